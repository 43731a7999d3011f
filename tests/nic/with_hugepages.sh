#!/bin/sh
# path: cold with_hugepages.sh COUNT COMMAND...: runs a command with at least COUNT free hugepages
# of 2 MiB, and gives back the pages that it reserved. Exits 77 (skipped) if they cannot be
# reserved.
set -u
wanted=$1
shift
folder=/sys/kernel/mm/hugepages/hugepages-2048kB
if [ ! -w "$folder/nr_hugepages" ]; then
    echo "SKIP: may not reserve hugepages ($folder/nr_hugepages)"
    exit 77
fi
before=$(cat "$folder/nr_hugepages")
free=$(cat "$folder/free_hugepages")
give_back() { echo "$before" > "$folder/nr_hugepages"; }
trap give_back EXIT
trap 'exit 130' INT TERM
if [ "$free" -lt "$wanted" ]; then
    echo $((before + wanted - free)) > "$folder/nr_hugepages"
fi
free=$(cat "$folder/free_hugepages")
if [ "$free" -lt "$wanted" ]; then
    echo "SKIP: $wanted hugepages wanted, memory allows $free"
    exit 77
fi
"$@"

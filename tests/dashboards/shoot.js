// Draws dashboards in headless Chromium: node shoot.js CHROMIUM NAME...
//
// Beside it stand page.js and page.css (bundled), and NAME.json with what NAME shows; it writes NAME.png and prints,
// as JSON by name, what the page's console had to complain of and what is to be seen of each panel.
import { readFile } from 'node:fs/promises';
import { chromium } from 'playwright-core';

const HERE = new URL('.', import.meta.url);
const ICONS = 'node_modules/@grafana/ui/dist/public/';
const FONT = 'node_modules/@fontsource/inter/files/inter-latin-400-normal.woff2';
const TYPES = { js: 'text/javascript', css: 'text/css', json: 'application/json', svg: 'image/svg+xml', woff2: 'font/woff2' };
const HTML = '<!doctype html><link rel="stylesheet" href="page.css"><body><div id="root"></div>'
    + '<style>@font-face { font-family: Inter; src: url(inter.woff2) }</style>'
    + '<script>window.__grafana_public_path__ = "/public/";</script>'
    + '<script type="module" src="page.js"></script>';

// The page's files, from this folder: nothing is asked of a network.
async function serve(route, name) {
    const { pathname } = new URL(route.request().url());
    if (pathname === '/') {
        return route.fulfill({ body: HTML, contentType: 'text/html' });
    }
    let path = pathname.slice(1).replace('public/build/', ICONS);
    path = path === 'answers.json' ? `${name}.json` : path.endsWith('.woff2') ? FONT : path;
    try {
        const body = await readFile(new URL(path, HERE));
        return route.fulfill({ body, contentType: TYPES[path.split('.').at(-1)] });
    } catch {
        return route.fulfill({ status: 404, body: path });
    }
}

// Of each panel: whether it says that it has nothing, its text, and how many pixels are coloured.
function seen() {
    const coloured = (canvas) => {
        const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
        let count = 0;
        for (let i = 0; i < data.length; i += 4) {
            const rgb = data.subarray(i, i + 3);
            count += data[i + 3] > 60 && Math.max(...rgb) - Math.min(...rgb) > 40 ? 1 : 0;
        }
        return count;
    };
    return Object.fromEntries([...document.querySelectorAll('[data-panel]')].map((panel) => [
        panel.dataset.panel, {
            empty: panel.querySelector('.no-data') !== null,
            text: panel.innerText,
            coloured: [...panel.querySelectorAll('canvas')].reduce((sum, canvas) => sum + coloured(canvas), 0),
        }]));
}

async function draw(browser, name) {
    const page = await browser.newPage({ viewport: { width: 1600, height: 900 } });
    const complaints = [];
    page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(String(error)));
    await page.route('**/*', (route) => serve(route, name));
    await page.goto('http://drawn.invalid/');
    await page.waitForSelector('[data-panel]', { timeout: 60000 }).catch(() => complaints.push('drew no panel'));
    await page.waitForTimeout(2000);  // sizes are measured, and drawn again
    const panels = await page.evaluate(seen);
    await page.screenshot({ path: new URL(`${name}.png`, HERE).pathname, fullPage: true });
    await page.close();
    return { complaints, panels };
}

const [executablePath, ...names] = process.argv.slice(2);
const browser = await chromium.launch({
    executablePath,
    args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-sync',
        '--disable-background-networking', '--disable-component-update'],
});
const drawn = {};
for (const name of names) {
    drawn[name] = await draw(browser, name);
}
await browser.close();
console.log(JSON.stringify(drawn));

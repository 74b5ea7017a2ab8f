import { writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Locator, Page } from '@playwright/test';
import { cli } from '../../support/server/cli.ts';
import { startServer, type TestServer } from '../../support/server/server.ts';

export const KAMPALA = { lat: 0.3476, lon: 32.5825 };
export const CROWD = 4_900;

/** A server with thousands of places around its centre. */
export async function startCrowd(): Promise<TestServer> {
	const server = await startServer();
	await importRouters(server, CROWD, KAMPALA, 0.12);
	return server;
}

/** Imports so many routers around a position, spread evenly over a circle, always the same ones. */
export async function importRouters(
	server: TestServer,
	count: number,
	centre: { lat: number; lon: number },
	radiusDegrees: number,
	address = ''
): Promise<void> {
	const GOLDEN_ANGLE = 2.399963;
	const rows = Array.from({ length: count }, (_one, index) => {
		const distance = radiusDegrees * Math.sqrt((index + 0.5) / count);
		const lat = centre.lat + distance * Math.sin(index * GOLDEN_ANGLE);
		const east = centre.lon + distance * Math.cos(index * GOLDEN_ANGLE);
		const lon = east > 180 ? east - 360 : east;
		return `${index},Kiosk ${index},Net-${index},${lat.toFixed(6)},${lon.toFixed(6)},"${address}"`;
	});
	const file = path.join(server.dataDir, 'routers.csv');
	writeFileSync(file, ['id,name,ssid,lat,lon,address', ...rows].join('\n'));
	const mapping = 'id=id,name=name,ssid=ssid,lat=lat,lon=lon,address=address';
	const owner = 'owner@airtill.example';
	const args = ['routers', 'import', file, '--map', mapping, '--price', '500', '--owner', owner];
	const { code, stderr } = await cli(args, server);
	if (code !== 0) throw new Error(`The import failed: ${stderr}`);
}

/** Counts the colours of the canvases or pictures of a selector that cover more than a speck. */
export const coloursOf = (page: Page, selector: string): Promise<number> =>
	page.evaluate((wanted) => {
		const seen = new Map<string, number>();
		for (const element of document.querySelectorAll<HTMLCanvasElement | HTMLImageElement>(wanted)) {
			const canvas = document.createElement('canvas');
			const [width, height] =
				element instanceof HTMLCanvasElement
					? [element.width, element.height]
					: [element.naturalWidth, element.naturalHeight];
			if (width === 0 || height === 0) continue;
			canvas.width = width;
			canvas.height = height;
			const context = canvas.getContext('2d');
			context?.drawImage(element, 0, 0);
			const { data = [] } = context?.getImageData(0, 0, width, height) ?? {};
			for (let at = 0; at < data.length; at += 16) {
				if (data[at + 3] !== 255) continue;
				const colour = `${data[at]} ${data[at + 1]} ${data[at + 2]}`;
				seen.set(colour, (seen.get(colour) ?? 0) + 1);
			}
		}
		const SPECK = 20;
		return [...seen.values()].filter((count) => count > SPECK).length;
	}, selector);

/** Places that the marks on the map stand for together. */
export async function placesOnMap(map: Locator): Promise<number> {
	const names = await map
		.locator('.mark > button')
		.evaluateAll((buttons) => buttons.map((button) => button.getAttribute('aria-label') ?? ''));
	return names.reduce((sum, name) => {
		const count = /^([\d,]+) places$/.exec(name)?.[1];
		return sum + (count === undefined ? 1 : Number(count.replaceAll(',', '')));
	}, 0);
}

/** Milliseconds between frames, and of tasks longer than 50 ms, while the map is pulled to and fro. */
interface Smoothness {
	medianFrameMs: number;
	worstFrameMs: number;
	worstTaskMs: number;
}

export async function pullAbout(page: Page, map: Locator): Promise<Smoothness> {
	const box = await map.boundingBox();
	if (!box) throw new Error('There is no map');
	const [x, y] = [box.x + box.width / 2, box.y + box.height - 40];
	await page.evaluate(() => {
		const found = { frames: [] as number[], tasks: [] as number[], goesOn: true };
		Reflect.set(window, 'smoothness', found);
		new PerformanceObserver((list) =>
			found.tasks.push(...list.getEntries().map(({ duration }) => duration))
		).observe({ type: 'longtask' });
		let last = performance.now();
		const frame = (now: number) => {
			found.frames.push(now - last);
			last = now;
			if (found.goesOn) requestAnimationFrame(frame);
		};
		requestAnimationFrame(frame);
	});
	for (const [dx, dy] of [
		[-150, -80],
		[150, 80],
		[120, -120],
		[-120, 120]
	] as const) {
		await page.mouse.move(x, y);
		await page.mouse.down();
		await page.mouse.move(x + dx, y + dy, { steps: 25 });
		await page.mouse.up();
	}
	return page.evaluate(() => {
		const found = Reflect.get(window, 'smoothness') as { frames: number[]; tasks: number[]; goesOn: boolean };
		found.goesOn = false;
		const frames = found.frames.slice(1).sort((a, b) => a - b);
		return {
			medianFrameMs: frames[Math.floor(frames.length / 2)] ?? 0,
			worstFrameMs: frames.at(-1) ?? 0,
			worstTaskMs: Math.max(0, ...found.tasks)
		};
	});
}

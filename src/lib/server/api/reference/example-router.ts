import { quote } from '#lib/checkout/quote.ts';
import type { App } from '#lib/server/app.ts';
import type { RouterBody } from '#lib/server/contract/schemas.ts';

/** The example purchase of the quickstart: its place, radius in metres and time. */
const RADIUS = 5_000;
const DURATION = '2h';
const ROUTERS = 20;

/** Replaces the router, place and prices of the quickstart with those of this installation, if a router sells now. */
export async function withRealRouter(text: string, { routers, config }: App): Promise<string> {
	const near = await routers.list({ ...config.centre, radius: RADIUS, limit: ROUTERS, after: null });
	for (const router of near.data) {
		const amount = router.status === 'online' ? quote(router, DURATION)?.amount : undefined;
		if (amount !== undefined) return replaced(text, router, { amount, ...config.centre });
	}
	return text;
}

function replaced(
	text: string,
	{ id, name, ssid, price, currency }: RouterBody,
	{ amount, lat, lon }: { amount: number; lat: number; lon: number }
): string {
	const values: Readonly<Record<string, unknown>> = {
		...{ '"id": 42': id, '"router_id": 42': id, '"name": "Kisementi Cafe"': name },
		...{ '"price": 500': price, '"amount": 1000': amount, '"currency": "UGX"': currency },
		'"ssid": "Kisementi-WiFi"': ssid
	};
	return text
		.replaceAll('lat=0.3476&lon=32.5825', `lat=${lat}&lon=${lon}`)
		.replace(/("\w+": )(?:\d+|"[^"]+")/g, (member, field: string) =>
			member in values ? field + JSON.stringify(values[member]) : member
		);
}

/** Medians and spreads of a run, as text and JSON. */
import { writeFileSync } from 'node:fs';

export function median(numbers: readonly number[]): number {
	const sorted = numbers.toSorted((a, b) => a - b);
	return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}

/** "0.61 of the empty route (0.58 to 0.63)" */
export function spread(numbers: readonly number[], unit: string, digits = 0): string {
	const [least, most] = [Math.min(...numbers), Math.max(...numbers)].map((number) => number.toFixed(digits));
	return `${median(numbers).toFixed(digits)} ${unit} (${least} to ${most})`;
}

export const figure = (values: readonly number[]) => ({
	median: median(values),
	least: Math.min(...values),
	most: Math.max(...values)
});

/** @param file of the option `--json`; without it nothing is written */
export function writeJson(file: string | undefined, results: object): void {
	if (file !== undefined) writeFileSync(file, `${JSON.stringify(results, null, '\t')}\n`);
}

/**
 * One browser window, independent of its driver: the actions of a person, and reading the page. All work with the
 * page's script switched off, too, because a driver's own script is not the page's.
 */
export interface Window {
	open(url: string): Promise<void>;
	reload(): Promise<void>;
	back(): Promise<void>;
	url(): Promise<string>;
	/** Types into a field. */
	type(selector: string, text: string): Promise<void>;
	/** Focuses an element and presses Enter, or Space. */
	press(selector: string, key: 'Enter' | 'Space'): Promise<void>;
	/** Value of a JavaScript expression in the page; it must be JSON. */
	read(expression: string): Promise<unknown>;
	/** The visible part of the page as PNG. */
	picture(): Promise<Buffer>;
	close(): Promise<void>;
}

export interface WindowOptions {
	/** Whether the page's own script runs. */
	script: boolean;
	/** Of the page, in CSS pixels. */
	width: number;
	height: number;
}

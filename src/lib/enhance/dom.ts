/** The elements that match, in the order of the page. */
export const all = <Found extends HTMLElement = HTMLElement>(selector: string): Found[] => [
	...document.querySelectorAll<Found>(selector)
];

/** Reads the JSON that the server wrote into a data attribute. */
export const settingsOf = <Settings>(element: HTMLElement, name: string): Settings =>
	JSON.parse(element.dataset[name] ?? '{}') as Settings;

/** Fills the one placeholder, `{}`, of a text from the server. */
export const fill = (text: string, value: string): string => text.replace('{}', value);

export const all = <Found extends HTMLElement = HTMLElement>(selector: string): Found[] => [
	...document.querySelectorAll<Found>(selector)
];

export const settingsOf = <Settings>(element: HTMLElement, name: string): Settings =>
	JSON.parse(element.dataset[name] ?? '{}') as Settings;

/** Fills the placeholder `{}` of a text from the server. */
export const fill = (text: string, value: string): string => text.replace('{}', value);

export const all = <Found extends HTMLElement = HTMLElement>(selector: string): Found[] => [
	...document.querySelectorAll<Found>(selector)
];

export const settingsOf = <Settings>(element: HTMLElement, name: string): Settings =>
	JSON.parse(element.dataset[name] ?? '{}') as Settings;

/** Fills the placeholder `{}` of a text from the server. */
export const fill = (text: string, value: string): string => text.replace('{}', value);

/** Of each event of the window, what the elements of the page do. */
const reactions = new Map<string, { element: Element; react: () => void }[]>();

/** Reacts to an event of the window while the element is in the page: a kiosk replaces its screens for weeks. */
export function onWindow(name: string, element: Element, react: () => void): void {
	const known = reactions.get(name);
	const isInPage = (one: { element: Element }) => one.element.isConnected;
	reactions.set(name, [...(known ?? []).filter(isInPage), { element, react }]);
	if (known) return;
	addEventListener(name, () => {
		for (const one of reactions.get(name)?.filter(isInPage) ?? []) one.react();
	});
}

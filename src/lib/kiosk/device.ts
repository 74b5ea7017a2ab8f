/** The tablet as a kiosk: full screen, awake, and no gesture that leads out of the page or changes it. */

/** What browsers answer to gestures, and a kiosk must not. */
const HARMLESS = ['contextmenu', 'dragstart', 'gesturestart'];

/** Not in the DOM's types where the browser has none: plain http, old WebViews. */
interface WakingNavigator {
	wakeLock?: { request(type: 'screen'): Promise<unknown> };
}

function fillScreen() {
	const { documentElement: root, fullscreenElement } = document;
	if (fullscreenElement || !('requestFullscreen' in root)) return;
	root.requestFullscreen({ navigationUI: 'hide' }).catch(() => {
		// Not allowed here (a browser that is a kiosk already, for one): the page works all the same.
	});
}

function keepAwake() {
	if (document.hidden) return;
	(navigator as WakingNavigator).wakeLock?.request('screen').catch(() => {
		// A tablet that saves its battery: its own settings decide.
	});
}

const swallow = (event: Event) => event.preventDefault();

/** More than one finger would zoom or turn. */
const swallowPinch = (event: TouchEvent) => {
	if (event.touches.length > 1 && event.cancelable) event.preventDefault();
};

/** @returns the function that gives the tablet back */
export function becomeKiosk(): () => void {
	// A browser fills the screen only in answer to a touch.
	document.addEventListener('click', fillScreen);
	document.addEventListener('visibilitychange', keepAwake);
	document.addEventListener('touchmove', swallowPinch, { passive: false });
	for (const name of HARMLESS) document.addEventListener(name, swallow);
	keepAwake();
	return () => {
		document.removeEventListener('click', fillScreen);
		document.removeEventListener('visibilitychange', keepAwake);
		document.removeEventListener('touchmove', swallowPinch);
		for (const name of HARMLESS) document.removeEventListener(name, swallow);
	};
}

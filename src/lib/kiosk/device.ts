/** Makes the tablet a kiosk: full screen, always on, without gestures that leave or change the page. */

const IGNORED = ['contextmenu', 'dragstart', 'gesturestart'];

/** Missing on plain http and in old WebViews. */
interface WakingNavigator {
	wakeLock?: { request(type: 'screen'): Promise<unknown> };
}

function fillScreen() {
	const { documentElement: root, fullscreenElement } = document;
	if (fullscreenElement || !('requestFullscreen' in root)) return;
	root.requestFullscreen({ navigationUI: 'hide' }).catch(() => {
		// Not allowed, for example in a kiosk browser: the page works without it.
	});
}

function keepAwake() {
	if (document.hidden) return;
	(navigator as WakingNavigator).wakeLock?.request('screen').catch(() => {
		// The tablet saves its battery.
	});
}

const swallow = (event: Event) => event.preventDefault();

/** Two fingers would zoom or rotate. */
const swallowPinch = (event: TouchEvent) => {
	if (event.touches.length > 1 && event.cancelable) event.preventDefault();
};

/** Returns the function that undoes it. */
export function becomeKiosk(): () => void {
	// Browsers allow full screen only after a touch.
	document.addEventListener('click', fillScreen);
	document.addEventListener('visibilitychange', keepAwake);
	document.addEventListener('touchmove', swallowPinch, { passive: false });
	for (const name of IGNORED) document.addEventListener(name, swallow);
	keepAwake();
	return () => {
		document.removeEventListener('click', fillScreen);
		document.removeEventListener('visibilitychange', keepAwake);
		document.removeEventListener('touchmove', swallowPinch);
		for (const name of IGNORED) document.removeEventListener(name, swallow);
	};
}

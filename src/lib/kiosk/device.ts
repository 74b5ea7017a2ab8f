/** Makes the tablet a kiosk: full screen, always on, without gestures that leave the page. CSS disables zoom. */

export function fillScreen(): void {
	const { documentElement: root, fullscreenElement } = document;
	if (fullscreenElement || !('requestFullscreen' in root)) return;
	root.requestFullscreen({ navigationUI: 'hide' }).catch(() => {
		// Not allowed, for example in a kiosk browser: the page works without it.
	});
}

export function keepAwake(): void {
	if (document.hidden) return;
	// Missing on plain http and in old WebViews.
	const { wakeLock }: Partial<Navigator> = navigator;
	wakeLock?.request('screen').catch(() => {
		// The tablet saves its battery.
	});
}

export const swallow = (event: Event) => event.preventDefault();

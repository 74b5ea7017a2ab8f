/** A device that a gateway redirected, as it says itself: anybody can write the MAC address of another. */
export interface RedirectedDevice {
	/** null if the gateway does not name it. */
	mac: string | null;
	/** The order is one of the first of its redirect. */
	isFirst: boolean;
}

/** Prompts that a device may leave unpaid before it counts like its network. */
export const FIRST_PROMPTS = 2;

/** Pages tell the API of this process which device orders. The API reads it from pages only. */
export const DEVICE_HEADER = 'airtill-device';

export const writeDevice = ({ mac, isFirst }: RedirectedDevice): string =>
	`${isFirst ? 'first' : 'later'} ${mac ?? ''}`.trim();

export function readDevice(header: string | undefined): RedirectedDevice | null {
	if (header === undefined) return null;
	const [which, mac = null] = header.split(' ');
	return { mac, isFirst: which === 'first' };
}

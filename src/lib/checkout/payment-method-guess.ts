/**
 * Which network a number probably belongs to, by its first digits. Only a guess: numbers are carried from one network
 * to another, and plans change. It preselects a choice and routes `mobile_money`; it never refuses anything.
 */
export type GuessedNetwork = 'mtn_momo' | 'airtel_money' | 'mpesa' | 'orange_money';

/** Country code, then the digits after it; the longest that fits wins. */
const PREFIXES: Readonly<Record<string, Partial<Record<GuessedNetwork, string>>>> = {
	// Uganda
	'256': { mtn_momo: '76 77 78 79 31 39', airtel_money: '70 74 75 20' },
	// Kenya
	'254': {
		mpesa: '70 71 72 74 757 758 759 768 769 79 110 111 112 113 114 115 116 117',
		airtel_money: '73 75 762 78 100 101 102 103 104 105 106'
	},
	// Tanzania
	'255': { mpesa: '74 75 76', airtel_money: '68 69 78' },
	// Rwanda
	'250': { mtn_momo: '78 79', airtel_money: '72 73' },
	// Zambia
	'260': { mtn_momo: '76 96', airtel_money: '77 97 57' },
	// Malawi
	'265': { airtel_money: '98 99' },
	// Ghana
	'233': { mtn_momo: '24 25 53 54 55 59', airtel_money: '26 27 56 57' },
	// Cameroon
	'237': {
		mtn_momo: '67 650 651 652 653 654 680 681 682 683',
		orange_money: '69 655 656 657 658 659 685 686 687 688 689'
	},
	// Ivory Coast
	'225': { mtn_momo: '05', orange_money: '07' },
	// Benin
	'229': { mtn_momo: '0151 0152 0153 0154 0156 0157 0161 0162 0166 0167 0169 0190 0191 0196 0197' },
	// Congo, Kinshasa
	'243': { mpesa: '81 82 83', airtel_money: '97 98 99', orange_money: '80 84 85 89' },
	// Madagascar
	'261': { airtel_money: '33', orange_money: '32 37' },
	// Senegal
	'221': { orange_money: '77 78' }
};

/** @param phone E.164 */
export function guessNetwork(phone: string): GuessedNetwork | null {
	const networks = PREFIXES[phone.slice(1, 4)];
	const digits = phone.slice(4);
	let best: { network: GuessedNetwork; length: number } | null = null;
	for (const [network, prefixes] of Object.entries(networks ?? {})) {
		for (const prefix of prefixes.split(' ')) {
			if (digits.startsWith(prefix) && prefix.length > (best?.length ?? 0)) {
				best = { network: network as GuessedNetwork, length: prefix.length };
			}
		}
	}
	return best?.network ?? null;
}

/**
 * A number as it is typed, about as E.164: good enough for a guess, without the metadata of all countries.
 * @param prefix of numbers without a country code, e.g. `+256`
 */
export function roughE164(typed: string, prefix: string): string {
	const digits = typed.replace(/[^\d+]/g, '');
	if (digits.startsWith('+')) return digits;
	if (digits.startsWith('00')) return `+${digits.slice(2)}`;
	if (digits.startsWith(prefix.slice(1))) return `+${digits}`;
	return prefix + digits.replace(/^0/, '');
}

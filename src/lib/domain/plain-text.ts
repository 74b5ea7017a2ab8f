/** Persian and Indic scripts, and emoji, need the two joiners. */
const JOINERS = /[\u200c\u200d]/g;
/** Text copied from other programs often has them around it. */
const DIRECTION_MARKS = /[\u200e\u200f\u061c\ufeff]/g;
/** Control characters, and invisible ones that hide or turn around the text beside them. */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Co}\p{Cs}]/u;

/** Reads one line that other people will see: NFC, without direction marks, with single blanks. */
export const readLine = (text: string): string =>
	text.normalize('NFC').replace(DIRECTION_MARKS, '').replace(/\s+/g, ' ').trim();

/** Returns the first character that a line must not contain, as `U+202E`; null if there is none. */
export function hiddenCharacter(line: string): string | null {
	const [found] = HIDDEN.exec(line.replace(JOINERS, '')) ?? [];
	return found === undefined
		? null
		: `U+${(found.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
}

/** For text that must not be refused, such as a reason. */
export const withoutHidden = (text: string): string =>
	[...readLine(text)].filter((one) => hiddenCharacter(one) === null).join('');

import { z } from 'zod';

/** RFC 5321, 4.5.3.1.3: a path has at most 256 octets, including two brackets. */
const MAX_EMAIL_CHARACTERS = 254;

/** The rule of better-auth, so that everybody who gets an account can sign in. */
const EMAIL = z.email().max(MAX_EMAIL_CHARACTERS);

/** People type their address in varying case. */
export const normaliseEmail = (email: string): string => email.trim().toLowerCase();

export const isEmail = (text: string): boolean => EMAIL.safeParse(text).success;

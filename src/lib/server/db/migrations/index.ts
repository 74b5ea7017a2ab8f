/** Every migration. A line with its number makes it part of MIGRATIONS. */
export { initial as m0001 } from './0001-initial.ts';

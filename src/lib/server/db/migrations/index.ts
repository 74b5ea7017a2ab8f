/** Every migration. A line with its number makes it part of MIGRATIONS. */
export { initial as m0001 } from './0001-initial.ts';
export { earlierOrders as m0070 } from './0070-earlier-orders.ts';
export { unreadDevices as m0071 } from './0071-unread-devices.ts';
export { accessPointOwners as m0072 } from './0072-access-point-owners.ts';
export { promptSources as m0075 } from './0075-prompt-sources.ts';
export { staffInvitations as m0078 } from './0078-staff-invitations.ts';
export { hiddenNetworks as m0081 } from './0081-hidden-networks.ts';
export { auditOfPeople as m0082 } from './0082-audit-of-people.ts';

/** What the server did with a delivery. */
export const HOOK_DELIVERY_STATUSES = ['accepted', 'ignored', 'dead'] as const

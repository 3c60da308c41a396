/** The record with every member of the change that is given; a missing or `undefined` one leaves its own. */
export function changed<T extends object>(record: T, change: Partial<NoInfer<T>>): T {
  const given = Object.entries(change).filter(([, value]) => value !== undefined)
  return Object.freeze({ ...record, ...Object.fromEntries(given) })
}

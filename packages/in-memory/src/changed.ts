/** Applies a change to a record; members that are missing or `undefined` stay unchanged. */
export function changed<T extends object>(record: T, change: Partial<NoInfer<T>>): T {
  const given = Object.entries(change).filter(([, value]) => value !== undefined)
  return Object.freeze({ ...record, ...Object.fromEntries(given) })
}

type Defined<T> = { readonly [Name in keyof T]?: Exclude<T[Name], undefined> }

/**
 * Returns the members of an object that are not `undefined`, so that spreading the result never overwrites a value with
 * `undefined`.
 */
export function definedMembers<T extends object>(object: T): Defined<T> {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as Defined<T>
}

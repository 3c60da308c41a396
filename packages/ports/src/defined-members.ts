type Defined<T> = { readonly [Name in keyof T]?: Exclude<T[Name], undefined> }

/** The members of an object that are not `undefined`, for a spread that must not override with `undefined`. */
export function definedMembers<T extends object>(object: T): Defined<T> {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as Defined<T>
}

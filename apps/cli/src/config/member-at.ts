/** The member at a dotted path; `undefined` if there is none. */
export const memberAt = (tree: unknown, path: string): unknown =>
  path.split('.').reduce<unknown>((at, name) => (at as Record<string, unknown> | undefined)?.[name], tree)

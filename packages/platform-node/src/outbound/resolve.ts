/** An address of a name, as `node:dns` returns it. */
export interface ResolvedAddress {
  readonly address: string
  readonly family: number
}

/** Resolves a name to all of its addresses. */
export type Resolve = (name: string) => Promise<readonly ResolvedAddress[]>

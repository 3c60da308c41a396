import type { TokenRecord, TokenStore } from '@perdure/ports'
import { createBoundedMap } from '../collections/bounded-map.ts'

/** The tokens that have replaced these tokens by now, by the ids asked for; a token that is not stored is missing. */
export type CurrentTokens = (ids: readonly string[]) => Promise<ReadonlyMap<string, TokenRecord>>

const MAX_REMEMBERED = 10_000

/** A replaced token stays replaced, so each process follows a chain of rotations once. */
export function createCurrentTokens(tokens: Pick<TokenStore, 'find' | 'findMany'>): CurrentTokens {
  const newest = createBoundedMap<string, string>(MAX_REMEMBERED)

  const follow = async (token: TokenRecord | undefined): Promise<TokenRecord | undefined> => {
    let current = token
    while (current?.replacedBy !== undefined) current = await tokens.find(current.replacedBy)
    return current
  }

  return async (ids) => {
    const known = (id: string) => newest.get(id) ?? id
    const stored = new Map((await tokens.findMany(ids.map(known))).map((token) => [token.id, token]))
    const current = new Map<string, TokenRecord>()
    for (const id of ids) {
      const token = await follow(stored.get(known(id)))
      if (token === undefined) continue
      if (token.id !== id) newest.set(id, token.id)
      current.set(id, token)
    }
    return current
  }
}

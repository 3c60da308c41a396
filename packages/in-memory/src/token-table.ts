import type { TokenRecord, TokenStore } from '@berth/ports'
import { createRecordTable } from './record-table.ts'
import { putEntry } from './undo-log.ts'
import type { WriteAppliers } from './write-applier.ts'

export interface TokenTable {
  readonly store: TokenStore
  readonly appliers: Pick<WriteAppliers, 'token.insert' | 'token.revoke' | 'token.touch'>
}

export function createTokenTable(): TokenTable {
  const tokens = createRecordTable<TokenRecord>()
  const idsByDigest = new Map<string, string>()
  const findByDigest = (digest: string): TokenRecord | undefined => {
    const id = idsByDigest.get(digest)
    return id === undefined ? undefined : tokens.get(id)
  }

  return {
    store: {
      findByDigest: async (digest) => findByDigest(digest),
      find: async (id) => tokens.get(id),
      list: async (page) => tokens.page(page, () => true),
    },
    appliers: {
      'token.insert'({ type, token }, { undo }) {
        const current = tokens.get(token.id) ?? findByDigest(token.digest)
        if (current !== undefined) return { type, current }
        tokens.put(token, undo)
        putEntry(idsByDigest, [token.digest, token.id], undo)
        return 1
      },
      'token.revoke'({ type, id, at }, { undo }) {
        const token = tokens.get(id)
        if (token === undefined) return { type }
        if (token.revokedAt !== undefined) return 0
        tokens.put(Object.freeze({ ...token, revokedAt: at }), undo)
        return 1
      },
      'token.touch'({ id, at }, { undo }) {
        const token = tokens.get(id)
        if (token === undefined) return 0
        tokens.put(Object.freeze({ ...token, lastUsedAt: at }), undo)
        return 1
      },
    },
  }
}

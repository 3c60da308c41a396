import type { Storage, TokenRecord, Write } from '@perdure/ports'
import { subjectRevocationWrites } from './subject-revocation-store.ts'
import { tokenWrites } from './token-writes.ts'

/** How many tokens are kept; the one that was read first is given up. */
const MAX_TOKENS = 1_000

/** The table `tokens` is changed in this folder alone. */
const changesTokens = ({ type }: Write) => type in tokenWrites || type in subjectRevocationWrites

/** A caller may change what it gets. */
const copyOf = (token: TokenRecord): TokenRecord => ({ ...token, scopes: [...token.scopes] })

/**
 * Keeps tokens that were found by their digest until a commit changes tokens, for a process that alone changes the
 * database. An acknowledged change is seen by every later read.
 */
export function keepTokens<Stores extends Pick<Storage, 'tokens' | 'unitOfWork'>>(stores: Stores): Stores {
  const { tokens, unitOfWork } = stores
  const known = new Map<string, TokenRecord>()
  let changing = 0
  let changes = 0

  const commitChange: Storage['unitOfWork']['commit'] = async (writes) => {
    changing++
    changes++
    known.clear()
    try {
      return await unitOfWork.commit(writes)
    } finally {
      changing--
      changes++
    }
  }

  const keep = (digest: string, token: TokenRecord) => {
    const [oldest] = known.keys()
    if (oldest !== undefined && known.size >= MAX_TOKENS) known.delete(oldest)
    known.set(digest, token)
  }

  return {
    ...stores,
    unitOfWork: {
      commit: (writes) => (writes.some(changesTokens) ? commitChange(writes) : unitOfWork.commit(writes)),
    },
    tokens: {
      ...tokens,
      async findByDigest(digest) {
        const kept = known.get(digest)
        if (kept !== undefined) return copyOf(kept)
        const changesBefore = changes
        const token = await tokens.findByDigest(digest)
        if (token !== undefined && changing === 0 && changes === changesBefore) keep(digest, copyOf(token))
        return token
      },
    },
  }
}

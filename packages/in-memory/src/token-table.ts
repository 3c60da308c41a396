import type { EpochMs, SubjectRevocation, TokenRecord, TokenStore } from '@perdure/ports'
import { createRecordTable } from './record-table.ts'
import { putEntry, type UndoLog } from './undo-log.ts'
import type { Table, WritesOf } from './write-applier.ts'

export interface TokenTable extends Table<TokenStore, WritesOf<'token'>> {
  /** Revokes the tokens of a subject up to a time, and their families. Returns how many. */
  revokeTokensOf(revocation: SubjectRevocation, undo: UndoLog): number
}

export function createTokenTable(): TokenTable {
  const tokens = createRecordTable<TokenRecord>()
  const idsByDigest = new Map<string, string>()
  const findByDigest = (digest: string): TokenRecord | undefined => {
    const id = idsByDigest.get(digest)
    return id === undefined ? undefined : tokens.get(id)
  }

  const everyToken = () => tokens.all()
  const childrenOf = (id: string) => everyToken().filter(({ parentId }) => parentId === id)
  const predecessorsOf = (id: string) => everyToken().filter((token) => token.replacedBy === id)
  const rootOf = (id: string): string => {
    const [predecessor] = predecessorsOf(id)
    return predecessor === undefined ? id : rootOf(predecessor.id)
  }
  const heirsOf = (id: string): TokenRecord[] => childrenOf(id).flatMap((child) => [child, ...heirsOf(child.id)])
  const isReferred = ({ id, replacedBy }: TokenRecord): boolean =>
    childrenOf(id).length > 0 || (replacedBy !== undefined && tokens.get(replacedBy) !== undefined)
  const familyOf = (token: TokenRecord): TokenRecord[] => {
    const next = [...childrenOf(token.id), ...predecessorsOf(token.id)]
    return [token, ...next.flatMap(familyOf)]
  }

  const revokeFamilies = (roots: readonly TokenRecord[], at: EpochMs, undo: UndoLog): number => {
    const live = [...new Set(roots.flatMap(familyOf))].filter(({ revokedAt }) => revokedAt === undefined)
    for (const token of live) tokens.put(Object.freeze({ ...token, revokedAt: at }), undo)
    return live.length
  }

  return {
    revokeTokensOf: ({ subject, issuedUntil, revokedAt }, undo) =>
      revokeFamilies(
        everyToken().filter((token) => token.subject === subject && token.createdAt <= issuedUntil),
        revokedAt,
        undo,
      ),
    store: {
      findByDigest: async (digest) => findByDigest(digest),
      find: async (id) => tokens.get(id),
      findMany: async (ids) => [...new Set(ids)].flatMap((id) => tokens.get(id) ?? []),
      rootOf: async (id) => rootOf(id),
      list: async (page) => tokens.page(page, () => true),
    },
    appliers: {
      'token.insert'({ type, token }, { undo }) {
        const current = tokens.get(token.id) ?? findByDigest(token.digest)
        if (current !== undefined) return { type, current }
        if (token.parentId !== undefined) {
          const parent = tokens.get(token.parentId)
          if (parent === undefined || !isActive(parent, token.createdAt)) return { type, current: parent }
        }
        tokens.put(token, undo)
        putEntry(idsByDigest, [token.digest, token.id], undo)
        return 1
      },
      'token.revoke'({ type, id, at }, { undo }) {
        const revoked = tokens.get(id)
        if (revoked === undefined) return { type }
        return revokeFamilies([revoked], at, undo)
      },
      'token.retire'({ type, id, replacedBy, at, until }, { undo }) {
        const token = tokens.get(id)
        if (token === undefined || !isActive(token, at) || token.replacedBy !== undefined) {
          return { type, current: token }
        }
        const end = until <= at ? { revokedAt: at } : { expiresAt: earlier(token.expiresAt, until) }
        tokens.put(Object.freeze({ ...token, replacedBy, ...end }), undo)
        for (const child of childrenOf(id)) {
          if (child.id !== replacedBy) tokens.put(Object.freeze({ ...child, parentId: replacedBy }), undo)
        }
        const last = tokens.get(replacedBy)?.expiresAt
        if (last === undefined) return 1
        for (const heir of heirsOf(replacedBy)) {
          tokens.put(Object.freeze({ ...heir, expiresAt: earlier(heir.expiresAt, last) }), undo)
        }
        return 1
      },
      'token.rehash'({ type, id, from, to }, { undo }) {
        const token = tokens.get(id)
        if (token === undefined || token.digest !== from || from === to) return 0
        const current = findByDigest(to)
        if (current !== undefined) return { type, current }
        tokens.put(Object.freeze({ ...token, digest: to }), undo)
        putEntry(idsByDigest, [to, id], undo)
        putEntry(idsByDigest, [from, undefined], undo)
        return 1
      },
      'token.touch'({ id, at }, { undo }) {
        const token = tokens.get(id)
        if (token === undefined) return 0
        tokens.put(Object.freeze({ ...token, lastUsedAt: at }), undo)
        return 1
      },
      'token.prune'({ before, limit, subject }, { undo }) {
        const isMeant = (token: TokenRecord) => subject === undefined || token.subject === subject
        const old = everyToken().filter((token) => endedAt(token) < before && !isReferred(token) && isMeant(token))
        for (const { id, digest } of old.slice(0, limit)) {
          tokens.delete(id, undo)
          putEntry(idsByDigest, [digest, undefined], undo)
        }
        return Math.min(old.length, limit)
      },
    },
  }
}

const isActive = ({ revokedAt, expiresAt }: TokenRecord, at: EpochMs): boolean =>
  revokedAt === undefined && (expiresAt === undefined || expiresAt > at)

const endedAt = ({ revokedAt, expiresAt }: TokenRecord): number =>
  Math.min(revokedAt ?? Number.POSITIVE_INFINITY, expiresAt ?? Number.POSITIVE_INFINITY)

const earlier = (a: EpochMs | undefined, b: EpochMs): EpochMs => (a !== undefined && a < b ? a : b)

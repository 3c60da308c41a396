import { AppError, type TokenRecord } from '@perdure/ports'
import type { TokenEnv } from '@perdure/protocol'
import { openTokenAdmin, type TokenAdmin } from '@perdure/server-app'
import type { Call } from '../call.ts'
import { validConfig } from '../config/valid-config.ts'
import { expiryOf } from '../expiry.ts'
import { pairsText } from '../output/columns.ts'
import { relativeText } from '../output/time-text.ts'

export interface TokenCreateFlags {
  readonly name: string
  readonly scopes: readonly string[]
  readonly subject?: string
  readonly env?: TokenEnv
  readonly expires?: string
  readonly expiresAt?: string
}

interface TokenFlags {
  readonly id: string
}

/** Without `--json`, stdout holds only the token, for `TOKEN=$(perdure token create …)`. */
export async function tokenCreateCommand(call: Call, flags: TokenCreateFlags): Promise<void> {
  const { name, scopes, subject, env } = flags
  const expiresAt = expiryOf(flags, Date.now())
  const { token, record } = await withTokens(call, (admin) => admin.mint({ name, scopes, subject, env, expiresAt }))
  const until = record.expiresAt === undefined ? 'never expires' : `expires ${isoOf(record.expiresAt)}`
  if (!call.out.isJson) {
    call.out.note(
      `${record.id} for ${record.subject}: ${record.scopes.join(', ')}; ${until}; the token is not shown again`,
    )
  }
  call.out.document({ ...tokenDocument(record), token }, () => `${token}\n`)
}

export async function tokenListCommand(call: Call): Promise<void> {
  const records = await withTokens(call, allTokens)
  const now = Date.now()
  call.out.list({ items: records.map(tokenDocument), nextCursor: null }, [
    { head: 'ID', cell: ({ id }) => id },
    { head: 'NAME', cell: ({ name }) => name },
    { head: 'SUBJECT', cell: ({ subject }) => subject },
    { head: 'TOKEN', cell: ({ env, last4 }) => `perdure_${env}_…${last4}` },
    { head: 'SCOPES', cell: ({ scopes }) => scopes.join(',') },
    { head: 'STATE', cell: (token) => stateOf(token, now) },
    { head: 'LAST USED', cell: ({ lastUsedAt }) => relativeText(lastUsedAt, now) },
    { head: 'BY', cell: ({ createdBy }) => createdBy },
  ])
}

export async function tokenInspectCommand(call: Call, { id }: TokenFlags): Promise<void> {
  const record = (await withTokens(call, allTokens)).find((one) => one.id === id)
  if (record === undefined) throw new AppError('token-not-found', { hint: 'run perdure token list' })
  const document = tokenDocument(record)
  call.out.document(document, (paint) => pairsText(Object.entries(document), paint))
}

export async function tokenRevokeCommand(call: Call, { id }: TokenFlags): Promise<void> {
  const record = await withTokens(call, (admin) => admin.revoke(id))
  call.out.document(tokenDocument(record), () => `revoked ${record.id}\n`)
}

async function withTokens<T>(call: Call, work: (admin: TokenAdmin) => Promise<T>): Promise<T> {
  const loaded = await call.config()
  const admin = await openTokenAdmin(validConfig(loaded), loaded)
  try {
    return await work(admin)
  } finally {
    await admin.close()
  }
}

const PAGE_SIZE = 200

async function allTokens(admin: TokenAdmin): Promise<readonly TokenRecord[]> {
  const records: TokenRecord[] = []
  let cursor: string | undefined
  do {
    const page = await admin.list({ limit: PAGE_SIZE, cursor, order: 'desc' })
    records.push(...page.items)
    cursor = page.nextCursor ?? undefined
  } while (cursor !== undefined)
  return records
}

/** The record as the API returns it: no digest, ISO times, unset fields omitted. */
function tokenDocument(record: TokenRecord) {
  const { id, name, subject, scopes, env, createdBy, last4 } = record
  return {
    id,
    name,
    subject,
    scopes,
    env,
    createdAt: isoOf(record.createdAt),
    createdBy,
    expiresAt: isoOf(record.expiresAt),
    lastUsedAt: isoOf(record.lastUsedAt),
    revokedAt: isoOf(record.revokedAt),
    last4,
  }
}

const isoOf = (at: number | undefined): string | undefined =>
  at === undefined ? undefined : new Date(at).toISOString()

function stateOf({ revokedAt, expiresAt }: ReturnType<typeof tokenDocument>, now: number): string {
  if (revokedAt !== undefined) return `revoked ${relativeText(revokedAt, now)}`
  if (expiresAt === undefined) return 'active'
  return `${Date.parse(expiresAt) <= now ? 'expired' : 'expires'} ${relativeText(expiresAt, now)}`
}

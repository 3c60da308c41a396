import { type AuditKeys, type AuditLog, type ChainDigest, headMac, type Logger, NO_AUDIT_KEY } from '@perdure/ports'

export interface HeadSigner {
  readonly log: Pick<AuditLog, 'state'>
  readonly keys: AuditKeys
  readonly digest: ChainDigest
  readonly logger: Logger
}

/**
 * Warns if the newest audit entry was signed with a secret that this server does not have: such a server also knows none
 * of the tokens. A chain that was begun without a secret, and a server that has none, are no mistake.
 */
export async function warnOfOtherSecret({ log, keys, digest, logger }: HeadSigner): Promise<void> {
  const { head } = await log.state()
  if (head === undefined || isWithout(keys)) return
  if ([...keys, ...NO_AUDIT_KEY].some((key) => headMac(digest, key, head) === head.mac)) return
  logger.warn(
    'the pepper, or audit.keyRef, differs from the one that this database was last used with: tokens and webhook secrets of another pepper are invalid',
    {
      hint: 'set auth.pepperRef to the earlier pepper, or list it in auth.previousPepperRefs, and restart; if it is lost, create new tokens',
    },
  )
}

const isWithout = ([current]: AuditKeys): boolean => current.length === 0

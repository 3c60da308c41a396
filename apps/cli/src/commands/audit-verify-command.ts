import { createReadStream } from 'node:fs'
import { resolve } from 'node:path'
import { createInterface } from 'node:readline'
import type { AuditVerification } from '@perdure/protocol'
import type { InferOutput } from 'valibot'
import type { Call } from '../call.ts'
import { usageError } from '../cli-error.ts'
import { EXIT_CODES } from '../exit-codes.ts'
import { verifyChain } from './verify-chain.ts'

export interface AuditVerifyFlags {
  readonly file?: string
  readonly expect?: string
}

type Verification = InferOutput<typeof AuditVerification>

export async function auditVerifyCommand(call: Call, { file, expect }: AuditVerifyFlags): Promise<void> {
  const expected = expect === undefined ? undefined : chainLocationOf('expect', expect)
  const verification =
    file === undefined
      ? await call.client().audit.verify(expected === undefined ? {} : { expected })
      : await verifyChain(linesOf(resolve(call.terminal.cwd, file)), expected)
  call.out.document(verification, (paint) => {
    const { ok, entries, head } = verification
    const mark = ok ? paint('green', '✓') : paint('red', '✗')
    const summary = `${mark} chain of ${entries} entries, head ${head?.hash ?? '-'}\n`
    return `${summary}${problemText(verification)}${restoreText(verification)}`
  })
  if (!verification.ok) call.finish(EXIT_CODES.problem.code)
}

function problemText({ ok, firstBadSeq, reason, unanchoredTail }: Verification): string {
  if (!ok) return `  first bad entry: ${firstBadSeq ?? '-'} (${reason ?? 'unknown'})\n`
  if (unanchoredTail === 0) return ''
  return `  ${unanchoredTail} ${unanchoredTail === 1 ? 'entry' : 'entries'} after the last checkpoint\n`
}

/** Explains why the chain does not contain entries that were known before. */
function restoreText({ restored }: Verification): string {
  if (restored === undefined) return ''
  const { seq, at, head, lost } = restored
  return `  an older backup was restored at ${at} (entry ${seq}): the chain continues after entry ${head.seq}; entries up to ${lost.seq} were discarded\n`
}

/** Parses the value of a flag that names an entry. @throws a usage error */
export function chainLocationOf(flag: string, text: string): { readonly size: number; readonly hash: string } {
  const [, size, hash] = /^(\d{1,15}):([0-9a-f]{64})$/.exec(text) ?? []
  if (size !== undefined && hash !== undefined) return { size: Number(size), hash }
  throw usageError(`--${flag} is not size:hash`, 'write <entry number>:<SHA-256 in hex>')
}

async function* linesOf(path: string): AsyncGenerator<string> {
  const input = createReadStream(path, 'utf8')
  try {
    yield* createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })
  } catch (error) {
    throw usageError(
      `--file: ${path} cannot be read (${(error as NodeJS.ErrnoException).code})`,
      'check the path of --file',
    )
  }
}

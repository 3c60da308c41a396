import { useState } from 'preact/hooks'
import { may, useApp } from '../app-context.ts'
import { type Failure, failureOf } from '../client/failure.ts'
import { FailureNote } from '../parts/basics.tsx'
import { Ago } from '../parts/time.tsx'
import { BLOCK, type ChainCheck, checkExport, linesOf, webSha256 } from './check-export.ts'

/** The result of a verification, by the server or by this browser. */
interface Verified {
  readonly by: 'server' | 'browser'
  readonly entries: number
  readonly headHash: string | undefined
  readonly problem: string | undefined
  readonly blocks: readonly boolean[]
  readonly at: string
}

/** Whether the chain is intact: the server checks it in its storage, and this browser checks what the server exports. */
export function VerifyBadge() {
  const app = useApp()
  const { client } = app
  const [verified, setVerified] = useState<Verified | undefined>(undefined)
  const [failure, setFailure] = useState<Failure | undefined>(undefined)
  const [progress, setProgress] = useState<ChainCheck | undefined>(undefined)
  const [isBusy, setBusy] = useState(false)
  const run = async (work: () => Promise<Omit<Verified, 'at'>>) => {
    setBusy(true)
    setFailure(undefined)
    try {
      setVerified({ ...(await work()), at: new Date().toISOString() })
    } catch (error) {
      setFailure(failureOf(error))
    }
    setProgress(undefined)
    setBusy(false)
  }
  const byServer = async () => {
    const { ok, entries, head, firstBadSeq, reason } = await client.audit.verify({})
    const problem = ok ? undefined : problemText(firstBadSeq, reason)
    return { by: 'server', entries, headHash: head?.hash, problem, blocks: [] } as const
  }
  const byBrowser = async () => {
    if (webSha256 === undefined) throw new Error('This browser computes hashes only on HTTPS or on this machine.')
    const { body } = await client.audit.export({})
    if (body === null) throw new Error('The export is empty.')
    const { entries, head, broken, blocks } = await checkExport(linesOf(body), {
      sha256: webSha256,
      onProgress: setProgress,
    })
    const problem = broken === undefined ? undefined : problemText(broken.seq, broken.reason)
    return { by: 'browser', entries, headHash: head?.hash, problem, blocks } as const
  }
  return (
    <div class={`note ${verified === undefined ? '' : verified.problem === undefined ? 'good' : 'bad'}`} role="status">
      {progress === undefined ? (
        <VerifiedText verified={verified} />
      ) : (
        `Verified ${progress.entries.toLocaleString()} entries so far…`
      )}
      <Strip blocks={progress?.blocks ?? verified?.blocks ?? []} />
      {failure === undefined ? null : <FailureNote failure={failure} />}
      <p class="actions">
        {may(app, 'audit:verify') ? (
          <button type="button" disabled={isBusy} onClick={() => void run(byServer)}>
            Verify the chain
          </button>
        ) : null}
        {may(app, 'audit:export') ? (
          <button
            type="button"
            disabled={isBusy}
            title="Reads all entries, which is recorded in the audit log"
            onClick={() => void run(byBrowser)}
          >
            Verify in this browser
          </button>
        ) : null}
      </p>
    </div>
  )
}

const problemText = (seq: number | undefined, reason: string | undefined): string =>
  `Broken at entry ${seq ?? '–'}: ${reason ?? 'unknown'}`

function VerifiedText({ verified }: { readonly verified: Verified | undefined }) {
  if (verified === undefined) return 'Each entry contains the hash of the one before it.'
  const { by, entries, headHash, problem, at } = verified
  if (problem !== undefined) return <strong>✕ {problem}</strong>
  return (
    <>
      <strong>
        ✓ Verified {entries.toLocaleString()} entries {by === 'server' ? 'on the server' : 'in this browser'}
      </strong>
      <span class="quiet">
        {headHash === undefined ? '' : ` up to ${headHash.slice(0, 16)}`}, <Ago at={at} />
      </span>
    </>
  )
}

/** Only the last blocks are drawn. */
const SHOWN = 400

/** One mark per block of entries. */
function Strip({ blocks }: { readonly blocks: readonly boolean[] }) {
  if (blocks.length === 0) return null
  const first = Math.max(0, blocks.length - SHOWN)
  const valid = blocks.filter(Boolean).length
  return (
    <div class="strip" role="img" aria-label={`${valid} of ${blocks.length} blocks of ${BLOCK} entries are valid`}>
      {blocks.slice(first).map((isValid, at) => (
        <span
          key={first + at}
          class={isValid ? 'is-valid' : 'is-broken'}
          title={`Entries from ${((first + at) * BLOCK + 1).toLocaleString()}: ${isValid ? 'valid' : 'broken'}`}
        />
      ))}
    </div>
  )
}

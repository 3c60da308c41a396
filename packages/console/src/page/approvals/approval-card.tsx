import { useState } from 'preact/hooks'
import { failureOf } from '../api/failure.ts'
import type { Approval } from '../api/resources.ts'
import { mayChange, useApp } from '../app-context.ts'
import { DiffTable } from '../diff/diff-table.tsx'
import { Facts, shortId } from '../parts/basics.tsx'
import { isLong, JsonView } from '../parts/json-view.tsx'
import { Subject } from '../parts/subject.tsx'
import { Ago } from '../parts/time.tsx'
import { hrefOf } from '../route.ts'

export interface ApprovalCardProps {
  readonly approval: Approval
  /** The last request of this kind that was approved. */
  readonly last: Approval | undefined
  readonly onDecided: () => void
  /** Whether the page around it names the run already. */
  readonly isInPlace?: boolean
}

/** A request that waits, with the buttons to decide it. The keys `a` and `d` do the same. */
export function ApprovalCard({ approval, last, onDecided, isInPlace = false }: ApprovalCardProps) {
  const app = useApp()
  const { client, notify } = app
  const [reason, setReason] = useState('')
  const [isBusy, setBusy] = useState(false)
  const [isShown, setShown] = useState(isFlat(approval.payload) || !isLong(approval.payload))
  const decide = async (approved: boolean) => {
    if (isBusy || (approved && !isShown)) return
    setBusy(true)
    try {
      await client.approvals.resolve(approval.id, { approved, ...(reason === '' ? {} : { reason }) })
      notify(approved ? `Approved ${approval.name}` : `Denied ${approval.name}`)
    } catch (error) {
      const { code, message } = failureOf(error)
      notify(code === 'approval-resolved' ? 'Someone else has already made a different decision' : message, 'failed')
    }
    setBusy(false)
    onDecided()
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.target instanceof HTMLInputElement || event.ctrlKey || event.metaKey || event.altKey) return
    if (event.key === 'a') void decide(true)
    if (event.key === 'd') void decide(false)
  }
  const canDecide = mayChange(app, 'approvals:resolve')
  return (
    <article
      class="card approval"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: the keys a and d act on the focused card; its buttons do the same
      tabIndex={0}
      aria-label={approval.title ?? approval.name}
      onKeyDown={canDecide ? onKeyDown : undefined}
    >
      <h2>{approval.title ?? approval.name}</h2>
      <Facts
        rows={[
          ['Asked by', !isInPlace && (approval.agentId ?? approval.workflowId)],
          ['Run', !isInPlace && <a href={hrefOf(['runs', approval.runId])}>{shortId(approval.runId)}</a>],
          ['Name', approval.name],
          ['Waiting since', <Ago at={approval.createdAt} />],
          ['Expires', approval.expiresAt === undefined ? undefined : <Ago at={approval.expiresAt} />],
        ]}
      />
      <Arguments payload={approval.payload} onWhole={() => setShown(true)} />
      {last === undefined || approval.payload === undefined ? null : <Comparison approval={approval} last={last} />}
      {canDecide && !isShown ? <p class="note warn">Show all of the request before you approve it.</p> : null}
      {canDecide ? (
        <div class="decide">
          <input
            type="text"
            aria-label="Reason"
            placeholder="Reason (optional)"
            maxLength={512}
            value={reason}
            onInput={({ currentTarget }) => setReason(currentTarget.value)}
          />
          <button type="button" class="primary" disabled={isBusy || !isShown} onClick={() => void decide(true)}>
            Approve{' '}
            <span class="key" aria-hidden="true">
              a
            </span>
          </button>
          <button type="button" class="danger" disabled={isBusy} onClick={() => void decide(false)}>
            Deny{' '}
            <span class="key" aria-hidden="true">
              d
            </span>
          </button>
        </div>
      ) : (
        <p class="quiet">This session may read approvals but not decide them.</p>
      )}
    </article>
  )
}

/** The payload as a list of names and values if it is a flat object, otherwise as JSON. */
function Arguments({ payload, onWhole }: { readonly payload: unknown; readonly onWhole: () => void }) {
  if (payload === undefined || payload === null) return null
  if (!isFlat(payload)) return <JsonView value={payload} label="What would be done" onWhole={onWhole} />
  return <Facts rows={Object.entries(payload).map(([name, value]) => [name, String(value)] as const)} />
}

function isFlat(payload: unknown): payload is Readonly<Record<string, unknown>> {
  if (typeof payload !== 'object' || payload === null || Array.isArray(payload)) return false
  const values = Object.values(payload)
  return values.length > 0 && values.every((value) => typeof value !== 'object' || value === null)
}

/** The arguments beside those of the last call that was approved. */
function Comparison({ approval, last }: { readonly approval: Approval; readonly last: Approval }) {
  const isSame = JSON.stringify(last.payload) === JSON.stringify(approval.payload)
  return (
    <details open={!isSame}>
      <summary>
        {isSame ? 'Same as' : 'Different from'} the last approved call, <Ago at={last.resolvedAt} />
        {last.by === undefined ? null : (
          <>
            {' '}
            by <Subject id={last.by} />
          </>
        )}
      </summary>
      <DiffTable
        before={last.payload}
        after={approval.payload}
        caption="Arguments compared with the last approved call"
        heads={['Approved before', 'Asked now']}
      />
    </details>
  )
}

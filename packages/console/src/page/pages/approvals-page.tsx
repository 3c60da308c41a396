import type { PerdureClient } from '@perdure/client'
import { useState } from 'preact/hooks'
import { failureOf } from '../api/failure.ts'
import type { Approval } from '../api/resources.ts'
import { mayChange, useApp } from '../app-context.ts'
import { DiffTable } from '../diff/diff-table.tsx'
import type { PendingApprovals } from '../live/pending-approvals.ts'
import { Empty, Facts, Heading, Shown, Status, shortId } from '../parts/basics.tsx'
import { isLong, JsonView } from '../parts/json-view.tsx'
import { Ago } from '../parts/time.tsx'
import { useLoaded } from '../parts/use-loaded.ts'
import { useReloadOn } from '../parts/use-reload.ts'
import { hrefOf } from '../route.ts'

/** Decisions that runs wait for. */
export function ApprovalsPage() {
  const { client, route, pending } = useApp()
  const { run } = route.query
  // The list of the whole console is limited, so the approvals of one run are read by themselves.
  const ofRun = useLoaded(async () => (run === undefined ? NOTHING : readPending(client, run)), [run])
  const waiting = run === undefined ? pending : ofRun
  const { reload } = waiting
  // The requests that were approved before, to compare with. Without them, nothing is compared.
  const approved = useLoaded(() => client.approvals.list({ status: 'approved', limit: 100 }), [])
  useReloadOn(({ type }) => run !== undefined && type.startsWith('approval.'), reload)
  return (
    <>
      <Heading title="Approvals" />
      {run === undefined ? null : (
        <p>
          Only approvals of run <a href={hrefOf(['runs', run])}>{shortId(run)}</a>. <a href="#/approvals">Show all</a>
        </p>
      )}
      <Shown loaded={waiting}>
        {({ items }) =>
          items.length === 0 ? (
            <Empty>No approval is pending.</Empty>
          ) : (
            <ul class="inbox">
              {items.map((approval) => (
                <li key={approval.id}>
                  <ApprovalCard
                    approval={approval}
                    last={approved.data?.items.find((one) => isSameQuestion(one, approval))}
                    onDecided={reload}
                  />
                </li>
              ))}
            </ul>
          )
        }
      </Shown>
      <Decided />
    </>
  )
}

const NOTHING: PendingApprovals = { items: [], nextCursor: null }

const readPending = (client: PerdureClient, runId: string): Promise<PendingApprovals> =>
  client.approvals.list({ status: 'pending', limit: 100, runId })

/** Whether the same code has asked the same, so that the arguments can be compared. */
const isSameQuestion = (one: Approval, other: Approval): boolean =>
  one.name === other.name && one.agentId === other.agentId && one.workflowId === other.workflowId

interface ApprovalCardProps {
  readonly approval: Approval
  /** The last request of this kind that was approved. */
  readonly last: Approval | undefined
  readonly onDecided: () => void
}

function ApprovalCard({ approval, last, onDecided }: ApprovalCardProps) {
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
          ['Asked by', approval.agentId ?? approval.workflowId],
          ['Run', <a href={hrefOf(['runs', approval.runId])}>{shortId(approval.runId)}</a>],
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
        {last.by === undefined ? '' : ` by ${last.by}`}
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

function Decided() {
  const { client } = useApp()
  const [isOpen, setOpen] = useState(false)
  return (
    <details class="decided" open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>Decided</summary>
      {isOpen ? <DecidedList read={() => client.approvals.list({ limit: 50 })} /> : null}
    </details>
  )
}

function DecidedList({ read }: { readonly read: () => Promise<{ readonly items: readonly Approval[] }> }) {
  const loaded = useLoaded(read, [])
  return (
    <Shown loaded={loaded}>
      {({ items }) => {
        const decided = items.filter(({ status }) => status !== 'pending')
        if (decided.length === 0) return <Empty>No decisions yet.</Empty>
        return (
          <div class="scroll">
            <table>
              <caption class="hidden">Decided approvals, newest first</caption>
              <thead>
                <tr>
                  <th scope="col">Approval</th>
                  <th scope="col">Decision</th>
                  <th scope="col">By</th>
                  <th scope="col">Reason</th>
                  <th scope="col">Run</th>
                  <th scope="col" class="number">
                    Decided
                  </th>
                </tr>
              </thead>
              <tbody>
                {decided.map((one) => (
                  <tr key={one.id}>
                    <th scope="row">{one.title ?? one.name}</th>
                    <td>
                      <Status value={one.status} />
                    </td>
                    <td>{one.by}</td>
                    <td class="long">{one.reason}</td>
                    <td>
                      <a class="id" href={hrefOf(['runs', one.runId])}>
                        {shortId(one.runId)}
                      </a>
                    </td>
                    <td class="number">
                      <Ago at={one.resolvedAt ?? one.expiresAt} />
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        )
      }}
    </Shown>
  )
}

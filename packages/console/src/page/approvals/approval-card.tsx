import { useState } from 'preact/hooks'
import { mayChange, useApp } from '../app-context.ts'
import { failureOf } from '../client/failure.ts'
import type { Approval } from '../client/resources.ts'
import { isAssignedTo } from '../client/scopes.ts'
import { DiffTable } from '../diff/diff-table.tsx'
import { Facts, shortId } from '../parts/basics.tsx'
import { isLong, JsonView } from '../parts/json-view.tsx'
import { Subject } from '../parts/subject.tsx'
import { Ago } from '../parts/time.tsx'
import { hrefOf } from '../route.ts'
import { memberText } from './member-text.ts'
import { requestOf } from './request-of.ts'

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
  const [reason, setReason] = useState('')
  const [args, setArgs] = useState(() => jsonOf(approval.args))
  const request = requestOf(approval)
  const [isShown, setShown] = useState(isFlat(request) || !isLong(request))
  const { decide, isBusy } = useDecision(approval, { reason, args, isShown, onDecided })
  const onKeyDown = (event: KeyboardEvent) => {
    if (isWriting(event.target) || event.ctrlKey || event.metaKey || event.altKey) return
    if (event.key === 'a') void decide(true)
    if (event.key === 'd') void decide(false)
  }
  const isAssigned = isAssignedTo(app.session.scopes, approval.assignee)
  const canDecide = isAssigned && mayChange(app, 'approvals:resolve')
  return (
    <article
      class="card approval"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: the keys a and d act on the focused card; its buttons do the same
      tabIndex={0}
      aria-label={approval.title ?? approval.name}
      onKeyDown={canDecide ? onKeyDown : undefined}
    >
      <h2>{approval.title ?? approval.name}</h2>
      <ApprovalFacts approval={approval} isInPlace={isInPlace} />
      <Arguments payload={request} onWhole={() => setShown(true)} />
      {last === undefined || approval.payload === undefined ? null : <Comparison approval={approval} last={last} />}
      {canDecide && approval.argsSchema !== undefined ? <EditArguments args={args} onEdit={setArgs} /> : null}
      {canDecide && !isShown ? <p class="note warn">Show all of the request before you approve it.</p> : null}
      {canDecide ? (
        <Buttons reason={reason} onReason={setReason} decide={decide} {...{ isBusy, isShown }} />
      ) : (
        <p class="quiet">
          {isAssigned
            ? 'This session may read approvals but not decide them.'
            : `Waiting for a colleague: only ${approval.assignee} may decide.`}
        </p>
      )}
    </article>
  )
}

const isWriting = (target: EventTarget | null): boolean =>
  target instanceof HTMLInputElement || target instanceof HTMLTextAreaElement

const jsonOf = (value: unknown): string => (value === undefined ? '' : JSON.stringify(value, null, 2))

interface Deciding extends Pick<ApprovalCardProps, 'onDecided'> {
  readonly reason: string
  /** The arguments as JSON, which the person may have changed. */
  readonly args: string
  readonly isShown: boolean
}

function useDecision(approval: Approval, { reason, args, isShown, onDecided }: Deciding) {
  const { client, notify } = useApp()
  const [isBusy, setBusy] = useState(false)
  const decide = async (approved: boolean) => {
    if (isBusy || (approved && !isShown)) return
    const decision = decisionOf(approval, { approved, reason, args })
    if (decision === undefined) return notify('The changed arguments are not JSON', 'failed')
    setBusy(true)
    try {
      await client.approvals.resolve(approval.id, decision)
      notify(approved ? `Approved ${approval.name}` : `Denied ${approval.name}`)
    } catch (error) {
      const { code, message } = failureOf(error)
      notify(code === 'approval-resolved' ? 'Someone else has already made a different decision' : message, 'failed')
    }
    setBusy(false)
    onDecided()
  }
  return { decide, isBusy }
}

interface Written extends Pick<Deciding, 'reason' | 'args'> {
  readonly approved: boolean
}

/** `undefined` if the arguments were changed to a text that is not JSON. */
function decisionOf(approval: Approval, { approved, reason, args }: Written) {
  const decision = { approved, ...(reason === '' ? {} : { reason }) }
  if (!approved || args === jsonOf(approval.args)) return decision
  try {
    return { ...decision, args: JSON.parse(args) as unknown }
  } catch {
    return undefined
  }
}

function ApprovalFacts({ approval, isInPlace }: Required<Pick<ApprovalCardProps, 'approval' | 'isInPlace'>>) {
  return (
    <Facts
      rows={[
        ['Asked by', !isInPlace && (approval.agentId ?? approval.workflowId)],
        ['Run', !isInPlace && <a href={hrefOf(['runs', approval.runId])}>{shortId(approval.runId)}</a>],
        ['Name', approval.name],
        ['Assigned to', approval.assignee],
        ['Waiting since', <Ago at={approval.createdAt} />],
        ['Reminder', approval.remindAt === undefined ? undefined : <Ago at={approval.remindAt} />],
        ['Then assigned to', approval.remindAt === undefined ? undefined : approval.escalateTo],
        ['Expires', approval.expiresAt === undefined ? undefined : <Ago at={approval.expiresAt} />],
      ]}
    />
  )
}

/** The arguments as JSON. What is approved is what this field holds. */
function EditArguments({ args, onEdit }: { readonly args: string; readonly onEdit: (args: string) => void }) {
  return (
    <details>
      <summary>Change the arguments</summary>
      <textarea
        aria-label="Arguments"
        rows={Math.min(12, args.split('\n').length + 1)}
        value={args}
        onInput={({ currentTarget }) => onEdit(currentTarget.value)}
      />
    </details>
  )
}

interface ButtonsProps {
  readonly reason: string
  readonly onReason: (reason: string) => void
  readonly decide: (approved: boolean) => Promise<unknown>
  readonly isBusy: boolean
  readonly isShown: boolean
}

function Buttons({ reason, onReason, decide, isBusy, isShown }: ButtonsProps) {
  return (
    <div class="decide">
      <input
        type="text"
        aria-label="Reason"
        placeholder="Reason (optional)"
        maxLength={512}
        value={reason}
        onInput={({ currentTarget }) => onReason(currentTarget.value)}
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
  )
}

/** The payload as a list of names and values if it is a flat object, otherwise as JSON. */
function Arguments({ payload, onWhole }: { readonly payload: unknown; readonly onWhole: () => void }) {
  if (payload === undefined || payload === null) return null
  if (!isFlat(payload)) return <JsonView value={payload} label="What would be done" onWhole={onWhole} />
  return <Facts rows={Object.entries(payload).map(([name, value]) => [name, memberText(value)] as const)} />
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

import { isOpenApproval } from '@perdure/protocol'
import type { ComponentChildren } from 'preact'
import { PendingApproval } from '../approvals/pending-approval.tsx'
import { Status, shortId } from '../parts/basics.tsx'
import { JsonView } from '../parts/json-view.tsx'
import { Subject } from '../parts/subject.tsx'
import { hrefOf } from '../route.ts'
import { ClientAnswer } from './client-answer.tsx'
import { FileView } from './file-view.tsx'
import { contentOf } from './input-content.ts'
import type { ApprovalPart, MessagePart, ToolPart } from './message-parts.ts'
import { Prose } from './prose.tsx'

export interface PartViewProps {
  readonly part: MessagePart
  /** Tells parts with the same text apart, from 1. */
  readonly number: number
  readonly runId: string
  /** Whether the run waits: only then can an answer of the client be sent. */
  readonly isWaiting: boolean
}

/** One part of a conversation: text, a tool, an approval, a file. */
export function PartView({ part, number, runId, isWaiting }: PartViewProps) {
  switch (part.kind) {
    case 'text':
      return <Prose text={part.text} label={`Text of the answer, part ${number}`} />
    case 'reasoning':
      return (
        <Folded summary={<span class="quiet">reasoning</span>}>
          <Prose text={part.text} label={`Reasoning, part ${number}`} />
        </Folded>
      )
    case 'tool':
      return <ToolCard call={part} number={number} runId={runId} isWaiting={isWaiting} />
    case 'approval':
      return <Decision approval={part} number={number} />
    case 'file':
      return <FileView {...part} />
    case 'source':
      return (
        <p class="quiet">
          source: {part.title ?? part.url ?? part.id}
          {part.url === undefined || part.title === undefined ? '' : ` (${part.url})`}
        </p>
      )
    case 'data':
      return (
        <Folded summary={<Named kind="data" name={part.name} />}>
          <JsonView value={part.data} label={`Data ${part.name}, part ${number}`} />
        </Folded>
      )
    case 'message':
      return (
        <Folded summary={<Named kind="message" name="of another author" />}>
          <JsonView value={part.message} label={`Message, part ${number}`} />
        </Folded>
      )
    case 'child':
      return (
        <p>
          <span class="quiet">run of</span> {part.name}{' '}
          <a class="id" href={hrefOf(['runs', part.id])} title={part.id}>
            {shortId(part.id)}
          </a>{' '}
          <Status value={part.status ?? 'running'} />
        </p>
      )
    case 'sent':
      return (
        <div class="sent">
          <span class="quiet">sent while it worked</span>
          <SentView content={part.content} label={`Message ${number} of the user`} />
        </div>
      )
  }
}

/** What a user has sent, or a result of the same form. */
export function SentView({ content, label }: { readonly content: unknown; readonly label: string }) {
  const parts = contentOf(content)
  if (parts.length === 0) return <p class="quiet">an empty message</p>
  return (
    <>
      {parts.map((part, at) => {
        const key = `${label} ${at}`
        if (part.kind === 'text') return <Prose key={key} text={part.text} label={label} />
        if (part.kind === 'file') return <FileView key={key} {...part} />
        return <JsonView key={key} value={part.value} label={label} />
      })}
    </>
  )
}

/** The approval of a tool call of this run is shown with the call. */
export const isShownApart = (part: MessagePart): boolean => part.kind !== 'approval' || part.toolCallId === undefined

interface FoldedProps {
  readonly summary: ComponentChildren
  readonly isOpen?: boolean
  readonly children: ComponentChildren
}

function Folded({ summary, isOpen = false, children }: FoldedProps) {
  return (
    <details class="part" open={isOpen}>
      <summary>{summary}</summary>
      {children}
    </details>
  )
}

function Named({ kind, name }: { readonly kind: string; readonly name: string }) {
  return (
    <>
      <span class="quiet">{kind}</span> {name}
    </>
  )
}

const STATES: Readonly<Record<ToolPart['state'], string>> = {
  writing: 'the model writes the arguments',
  called: 'no result yet',
  executing: 'no result yet',
  waiting: 'waits for an approval',
  done: '',
  failed: 'failed',
  denied: 'denied',
}

interface ToolCardProps extends Omit<PartViewProps, 'part'> {
  readonly call: ToolPart
}

function ToolCard({ call, number, runId, isWaiting }: ToolCardProps) {
  const { id, name, state, answer, isClient, approvalId } = call
  const awaitsClient = isClient && isWaiting && answer === undefined && state !== 'waiting'
  return (
    <>
      <Folded summary={<ToolSummary call={call} awaitsClient={awaitsClient} />}>
        <Value title="input" value={call.args} label={`Arguments of ${name}, part ${number}`} />
        <Value title={isBad(state) ? 'error' : 'output'} value={answer} label={`Result of ${name}, part ${number}`} />
        {call.file === undefined ? null : <FileView {...call.file} />}
      </Folded>
      {state === 'waiting' && approvalId !== undefined ? <PendingApproval id={approvalId} name={name} /> : null}
      {awaitsClient ? <ClientAnswer runId={runId} toolCallId={id} name={name} /> : null}
    </>
  )
}

const isBad = (state: ToolPart['state']): boolean => state === 'failed' || state === 'denied'

function ToolSummary({ call, awaitsClient }: { readonly call: ToolPart; readonly awaitsClient: boolean }) {
  const { name, title, state } = call
  const said = awaitsClient ? 'waits for a result of the client' : STATES[state]
  return (
    <>
      <Named kind="tool" name={name} />
      {title === undefined || title === name ? '' : ` · ${title}`}
      {said === '' ? null : <span class={isBad(state) ? 'bad-text' : 'quiet'}> · {said}</span>}
    </>
  )
}

interface ValueProps {
  readonly title: string
  readonly value: unknown
  readonly label: string
}

function Value({ title, value, label }: ValueProps) {
  if (value === undefined) return null
  return (
    <>
      <span class="quiet">{title}</span>
      <JsonView value={value} label={label} />
    </>
  )
}

function Decision({ approval, number }: { readonly approval: ApprovalPart; readonly number: number }) {
  const { id, name, title, state, by, reason, payload } = approval
  if (isOpenApproval(state)) return <PendingApproval id={id} name={title ?? name} />
  return (
    <Folded
      summary={
        <>
          <Named kind="approval" name={title ?? name} /> <Status value={state} />
          <span class="quiet">
            {by === undefined ? null : (
              <>
                {' '}
                by <Subject id={by} />
              </>
            )}
            {reason === undefined ? '' : `: ${reason}`}
          </span>
        </>
      }
    >
      <JsonView value={payload ?? null} label={`What was asked, part ${number}`} />
    </Folded>
  )
}

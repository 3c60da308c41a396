import type { ComponentChildren } from 'preact'
import type { Failure } from '../client/failure.ts'
import type { Loaded } from './use-loaded.ts'

const MARKS: Readonly<Record<string, string>> = {
  completed: '✓',
  approved: '✓',
  accepted: '✓',
  ok: '✓',
  active: '✓',
  ready: '✓',
  connected: '✓',
  started: '▶',
  skipped: '–',
  ignored: '–',
  missed: '○',
  failed: '✕',
  denied: '✕',
  dead: '✕',
  fail: '✕',
  failing: '✕',
  aborted: '◼',
  expired: '◼',
  running: '▶',
  queued: '◷',
  suspended: '‖',
  pending: '‖',
  warn: '!',
  degraded: '!',
}

/** A status as a mark, a colour and a word. */
export function Status({ value }: { readonly value: string }) {
  return (
    <span class={`status is-${value}`}>
      <span class="mark" aria-hidden="true">
        {MARKS[value] ?? '·'}
      </span>
      {value}
    </span>
  )
}

export function Heading({
  title,
  children,
}: {
  readonly title: ComponentChildren
  readonly children?: ComponentChildren
}) {
  return (
    <div class="heading">
      <h1 tabIndex={-1}>{title}</h1>
      <div class="actions">{children}</div>
    </div>
  )
}

export function FailureNote({ failure, onRetry }: { readonly failure: Failure; readonly onRetry?: () => void }) {
  const { code, message, hint, status } = failure
  return (
    <div class="note bad" role="alert">
      <strong>{status === 403 ? 'Your token does not allow this' : message}</strong>
      <div class="quiet">
        <code>{code}</code>
        {status === 403 ? ` ${message}` : ''}
        {hint === undefined ? '' : `: ${hint}`}
      </div>
      {onRetry === undefined ? null : (
        <button type="button" onClick={onRetry}>
          Try again
        </button>
      )}
    </div>
  )
}

/** The data once it is there; before that, or in its place, what is known instead. */
export function Shown<Data>({
  loaded,
  children,
}: {
  readonly loaded: Loaded<Data>
  readonly children: (data: Data) => ComponentChildren
}) {
  const { data, failure, reload } = loaded
  return (
    <>
      {failure === undefined ? null : <FailureNote failure={failure} onRetry={reload} />}
      {data === undefined ? failure === undefined && <p class="quiet loading">Loading…</p> : children(data)}
    </>
  )
}

export function Empty({ children }: { readonly children: ComponentChildren }) {
  return <p class="empty">{children}</p>
}

/** In place of a list of runs that the session may not read. */
export function NoRunList() {
  return <Empty>This session may not list runs. To open a run by its id, press / .</Empty>
}

export function Card({
  title,
  aside,
  children,
}: {
  readonly title: string
  readonly aside?: ComponentChildren
  readonly children: ComponentChildren
}) {
  return (
    <section class="card" aria-label={title}>
      <header>
        <h2>{title}</h2>
        {aside}
      </header>
      {children}
    </section>
  )
}

/** Name and value pairs. */
export function Facts({ rows }: { readonly rows: ReadonlyArray<readonly [string, ComponentChildren]> }) {
  return (
    <dl class="facts">
      {rows.map(([name, value]) =>
        value === undefined || value === null || value === '' || value === false ? null : (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ),
      )}
    </dl>
  )
}

/** A beginning of an id that tells rows apart, with the whole id in the tooltip. */
export const shortId = (id: string): string => (id.length > 20 ? `${id.slice(0, 8)}…${id.slice(-6)}` : id)

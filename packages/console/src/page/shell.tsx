import { useEffect, useRef } from 'preact/hooks'
import { may, useApp } from './app-context.ts'
import { useStore } from './client/use-store.ts'
import type { Liveness } from './live/live-feed.ts'
import { PAGE_GROUPS, PAGES, type PageSpec } from './pages.tsx'
import { Palette } from './palette.tsx'
import { Empty, Heading } from './parts/basics.tsx'
import { Subject } from './parts/subject.tsx'

/** The frame of every page: navigation, connection, and the page itself. */
export function Shell() {
  const app = useApp()
  const { route, session, signOut, pending } = app
  const [id = ''] = route.path
  const allowed = PAGES.filter((page) => isAllowed(app, page))
  const page = PAGES.find((one) => one.id === id)
  const main = useRef<HTMLElement>(null)
  const address = route.path.join('/')
  const isFirst = useRef(true)
  useEffect(() => {
    document.querySelector('link[rel=icon]')?.setAttribute('href', iconOf(session.env))
    // In a narrow window, the navigation is wider than the window.
    document.querySelector('.side nav [aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' })
    if (isFirst.current) isFirst.current = false
    else main.current?.querySelector('h1')?.focus({ preventScroll: true })
  }, [address])
  const waiting = pending.data?.items.length ?? 0
  const title = titleOf(app, page?.label ?? 'Not found', waiting)
  useEffect(() => {
    document.title = title
  }, [title])
  return (
    <div class="shell">
      <header class="side">
        <a class="skip" href={location.hash} onClick={(event) => focusMain(event, main.current)}>
          Skip to the page
        </a>
        <div class="brand">
          <svg class="mark" viewBox="0 0 32 32" aria-hidden="true">
            <rect width="32" height="32" rx="7" />
            <path d="M10 25V8h7a5.5 5.5 0 0 1 0 11h-4" />
          </svg>
          Perdure{' '}
          {session.env === null || session.env === 'live' ? null : (
            <span class={`env env-${session.env}`}>{session.env === 'local' ? 'dev' : session.env}</span>
          )}
        </div>
        <nav aria-label="Pages">
          <PageLinks pages={allowed} open={id} waiting={waiting} />
        </nav>
        <div class="foot">
          <ConnectionPill />
          <Palette pages={allowed} />
          <span class="quiet who" title={session.scopes.join('\n')}>
            <Subject id={session.subject} />
            {session.readOnly ? ' · read only' : ''}
          </span>
          {session.expiresAt === undefined ? null : (
            <button type="button" class="link" onClick={signOut}>
              Sign out
            </button>
          )}
        </div>
      </header>
      <main ref={main} tabIndex={-1}>
        <OfflineBanner />
        {page === undefined ? (
          <>
            <Heading title="Not found" />
            <Empty>
              No page has this address. <a href="#/">Home</a>
            </Empty>
          </>
        ) : isAllowed(app, page) ? (
          page.draw(route)
        ) : (
          <Forbidden page={page} />
        )}
      </main>
    </div>
  )
}

function Forbidden({ page: { scopes, alsoNeeds = [], isChange } }: { readonly page: PageSpec }) {
  const { session } = useApp()
  return (
    <>
      <Heading title="403" />
      <Empty>
        Your token does not allow this page. It needs {[scopes.join(' or '), ...alsoNeeds].join(' and ')}
        {session.readOnly && isChange ? ', and console.readOnly must be off' : ''}.
      </Empty>
    </>
  )
}

interface PageLinksProps {
  readonly pages: readonly PageSpec[]
  readonly open: string
  /** How many decisions wait. */
  readonly waiting: number
}

function PageLinks({ pages, open, waiting }: PageLinksProps) {
  return (
    <>
      {PAGE_GROUPS.map((group) => {
        const shown = pages.filter((one) => one.group === group)
        if (shown.length === 0) return null
        return (
          <div key={group} class="nav-group">
            <span class="nav-head">{group}</span>
            {shown.map((page) => (
              <PageLink
                key={page.id}
                page={page}
                isOpen={page.id === open}
                waiting={page.id === 'approvals' ? waiting : 0}
              />
            ))}
          </div>
        )
      })}
    </>
  )
}

interface PageLinkProps {
  readonly page: PageSpec
  readonly isOpen: boolean
  /** How many decisions wait on the page. */
  readonly waiting: number
}

function PageLink({ page: { id, label }, isOpen, waiting }: PageLinkProps) {
  return (
    <a href={`#/${id}`} aria-current={isOpen ? 'page' : undefined}>
      {label}
      {waiting === 0 ? null : (
        <>
          {' '}
          <span class="count">
            {waiting}
            <span class="hidden"> waiting</span>
          </span>
        </>
      )}
    </a>
  )
}

/** The title begins with the number of decisions that wait, so that it is visible in the tab. */
function titleOf({ session: { env } }: ReturnType<typeof useApp>, label: string, waiting: number): string {
  const count = waiting === 0 ? '' : `(${waiting}) `
  return `${env === 'local' ? '[dev] ' : ''}${count}${label} · Perdure`
}

const FIRST_ICON = document.querySelector('link[rel=icon]')?.getAttribute('href') ?? ''

/** The icon of a development server is amber, so that its tab is not mistaken for another one. */
const iconOf = (env: string | null): string =>
  env === 'local' ? FIRST_ICON.replace('%232f4f9e', '%23a05e00') : FIRST_ICON

const isAllowed = (app: ReturnType<typeof useApp>, { scopes, alsoNeeds = [], isChange }: PageSpec): boolean =>
  (scopes.length === 0 || scopes.some((scope) => may(app, scope))) &&
  alsoNeeds.every((scope) => may(app, scope)) &&
  !(isChange && app.session.readOnly)

function focusMain(event: Event, main: HTMLElement | null): void {
  event.preventDefault()
  main?.focus()
}

const WORDS: Readonly<Record<Liveness, string>> = {
  connecting: 'connecting',
  live: 'live',
  resuming: 'resuming',
  polling: 'no WebSocket',
  periodic: 'every 10 s',
  offline: 'offline',
  refused: 'refused',
}

function ConnectionPill() {
  const { feed } = useApp()
  const liveness = useStore(feed.liveness)
  const lastEventId = useStore(feed.lastEventId)
  return (
    <span class={`pill pill-${liveness}`} role="status" title={`Last event: ${lastEventId ?? 'none yet'}`}>
      {WORDS[liveness]}
    </span>
  )
}

function OfflineBanner() {
  const { feed } = useApp()
  const liveness = useStore(feed.liveness)
  const reason = useStore(feed.reason)
  if (liveness === 'offline') {
    return (
      <p class="note warn" role="status">
        The server does not answer. This page shows the last data that it received, and reconnects by itself.
      </p>
    )
  }
  if (liveness === 'polling') {
    return (
      <p class="note warn" role="status">
        No WebSocket can be opened to the server; a proxy may block it. Lists are read again every 10 seconds, and runs
        and sessions are followed over event streams.
      </p>
    )
  }
  if (liveness === 'refused') {
    return (
      <p class="note bad" role="alert">
        {reason ?? 'The server has closed the connection of this session.'}
      </p>
    )
  }
  return liveness === 'resuming' && reason !== undefined ? (
    <p class="note" role="status">
      {reason}
    </p>
  ) : null
}

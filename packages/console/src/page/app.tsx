import type { PerdureClient } from '@perdure/client'
import { useCallback, useEffect, useMemo, useState } from 'preact/hooks'
import { type AppContext, Context } from './app-context.ts'
import { connect } from './client/connection.ts'
import { type Failure, failureOf } from './client/failure.ts'
import { isOfProvider, returnFromProvider, signOutAtProvider } from './client/provider.ts'
import { type Session, subjectOf, type Target } from './client/resources.ts'
import { allows } from './client/scopes.ts'
import { createTokenNames } from './client/token-names.ts'
import { useStore } from './client/use-store.ts'
import { createLiveFeed } from './live/live-feed.ts'
import { usePendingApprovals } from './live/pending-approvals.ts'
import { type CreatedToken, SignInPage } from './pages/sign-in-page.tsx'
import { FailureNote } from './parts/basics.tsx'
import { watchRoute } from './route.ts'
import { Shell } from './shell.tsx'

const routes = watchRoute()
const MESSAGE_MS = 6_000
/** A connection may follow at most 200 subjects; some are left for the open page. */
const MAX_FOLLOWED = 150

type SignInState =
  | { readonly kind: 'reading' }
  | { readonly kind: 'out'; readonly failure?: Failure; readonly created?: readonly CreatedToken[] }
  | { readonly kind: 'failed'; readonly failure: Failure }
  | { readonly kind: 'in'; readonly session: Session; readonly targets: readonly Target[] }

interface Message {
  readonly text: string
  readonly kind: 'done' | 'failed'
}

/** One connection for the life of the page. */
function createConnection() {
  const feed = createLiveFeed(
    () => client,
    () => document.visibilityState === 'visible',
  )
  const client: PerdureClient = connect(feed)
  return { client, feed, tokenNames: createTokenNames(() => client) }
}

export function App() {
  const route = useStore(routes)
  const { client, feed, tokenNames } = useMemo(createConnection, [])
  const [state, setState] = useState<SignInState>({ kind: 'reading' })
  const [message, setMessage] = useState<Message | undefined>(undefined)

  const enter = useCallback(
    async (refusedLink?: Failure) => {
      try {
        const session = await client.console.session()
        const targets = targetsOf(session)
        setState({ kind: 'in', session, targets })
        feed.follow(subjectsOf(session, targets))
      } catch (error) {
        const failure = failureOf(error)
        if (refusedLink !== undefined) setState({ kind: 'out', failure: refusedLink })
        else if (failure.status === 401)
          setState({ kind: 'out', ...(failure.code === 'auth-required' ? {} : { failure }) })
        else setState({ kind: 'failed', failure })
      }
    },
    [client, feed],
  )

  const signIn = useCallback(
    async (credential: { readonly token: string } | { readonly code: string }) => {
      try {
        await client.console.signIn(credential, { maxRetries: 0 })
        await enter()
      } catch (error) {
        setState({ kind: 'out', failure: failureOf(error) })
      }
    },
    [client, enter],
  )

  /** The session of an earlier sign-in may still be valid when the user opens a used link again. */
  const follow = useCallback(
    (code: string) =>
      client.console.signIn({ code }, { maxRetries: 0 }).then(
        () => enter(),
        (error: unknown) => {
          const failure = failureOf(error)
          return failure.status === 401 ? enter(failure) : setState({ kind: 'failed', failure })
        },
      ),
    [client, enter],
  )

  useEffect(() => {
    returnFromProvider()
    const code = takeCode()
    void (code === undefined ? enter() : follow(code))
  }, [enter, follow])

  useEffect(() => {
    addEventListener('hashchange', reloadForCode)
    return () => removeEventListener('hashchange', reloadForCode)
  }, [])

  const notify = useCallback((text: string, kind: Message['kind'] = 'done') => setMessage({ text, kind }), [])
  useEffect(() => {
    if (message === undefined) return
    const timer = setTimeout(() => setMessage(undefined), MESSAGE_MS)
    return () => clearTimeout(timer)
  }, [message])

  const subject = state.kind === 'in' ? state.session.subject : ''
  const signOut = useCallback(async () => {
    const ended = await client.console.signOut().catch(() => undefined)
    if (ended === undefined) location.reload()
    else if (isOfProvider(subject)) signOutAtProvider()
    else setState({ kind: 'out', created: ended.tokens })
  }, [client, subject])

  if (state.kind === 'reading') return <p class="quiet loading">Loading…</p>
  if (state.kind === 'out') return <SignInPage failure={state.failure} created={state.created} onSignIn={signIn} />
  if (state.kind === 'failed') {
    return (
      <main class="sign-in">
        <FailureNote failure={state.failure} onRetry={() => void enter()} />
      </main>
    )
  }
  const { session, targets } = state
  return (
    <SignedIn
      {...{ client, feed, tokenNames, session, targets, route, notify }}
      signOut={() => void signOut()}
      message={message}
    />
  )
}

type SignedInProps = Omit<AppContext, 'pending'> & { readonly message: Message | undefined }

function SignedIn({ message, ...app }: SignedInProps) {
  const { client, feed, session } = app
  const isAllowed = allows(session.scopes, 'approvals:read')
  const pending = usePendingApprovals({ client, feed, isAllowed })
  return (
    <Context.Provider value={{ ...app, pending }}>
      <Shell />
      <div class="messages" role="status">
        {message === undefined ? null : <p class={`message is-${message.kind}`}>{message.text}</p>}
      </div>
    </Context.Provider>
  )
}

const codeOf = (hash: string): string | undefined => /^#code=([A-Za-z0-9_-]+)$/.exec(hash)?.[1]

/** A link that is opened in a loaded page changes only the fragment. A reload signs in, with the session of the code. */
function reloadForCode(): void {
  if (codeOf(location.hash) !== undefined) location.reload()
}

/** The single-use code in the address. It is removed at once from the address and the history. */
function takeCode(): string | undefined {
  const code = codeOf(location.hash)
  if (code === undefined) return undefined
  history.replaceState(null, '', '#/')
  dispatchEvent(new HashChangeEvent('hashchange'))
  return code
}

const targetsOf = ({ agents, workflows }: Session): readonly Target[] => [
  ...agents.map((one) => ({ kind: 'agent', ...one }) as const),
  ...workflows.map((one) => ({ kind: 'workflow', ...one }) as const),
]

const subjectsOf = ({ scopes }: Session, targets: readonly Target[]): readonly string[] => [
  ...targets.slice(0, MAX_FOLLOWED).map(subjectOf),
  ...(allows(scopes, 'approvals:read') ? ['approvals/events'] : []),
]

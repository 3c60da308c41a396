import { useEffect, useState } from 'preact/hooks'
import { mayChange, useApp } from './app-context.ts'
import type { PageSpec } from './pages.tsx'
import { Dialog } from './parts/dialog.tsx'
import { goTo, hrefOf } from './route.ts'

interface Entry {
  readonly label: string
  readonly href: string
}

const isTyping = ({ target }: Event) => target instanceof HTMLElement && target.matches('input, textarea, select')

/** Opens any page by its name, or a run by its id. `/` and Ctrl-K open it. */
export function Palette({ pages }: { readonly pages: readonly PageSpec[] }) {
  const app = useApp()
  const [isOpen, setOpen] = useState(false)
  const [text, setText] = useState('')
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      const isSlash = event.key === '/' && !isTyping(event) && !event.ctrlKey && !event.metaKey
      if (!isSlash && !(event.key === 'k' && (event.ctrlKey || event.metaKey))) return
      event.preventDefault()
      setText('')
      setOpen(true)
    }
    addEventListener('keydown', onKeyDown)
    return () => removeEventListener('keydown', onKeyDown)
  }, [])
  const words = text.trim()
  const entries: readonly Entry[] = [
    ...(/^run_/.test(words) ? [{ label: `Run ${words}`, href: hrefOf(['runs', words]) }] : []),
    ...pages.map(({ id, label }) => ({ label, href: `#/${id}` })),
    ...(mayChange(app, 'agents:invoke') || mayChange(app, 'workflows:execute')
      ? app.targets.map(({ kind, id }) => ({ label: `Start ${id}`, href: hrefOf(['start', kind, id]) }))
      : []),
    ...app.targets.map(({ kind, id }) => ({
      label: `Runs of ${id}`,
      href: hrefOf(['runs'], { target: `${kind}:${id}` }),
    })),
  ].filter(({ label }) => label.toLowerCase().includes(words.toLowerCase()))
  const open = ({ href }: Entry) => {
    setOpen(false)
    goTo(href)
  }
  return (
    <>
      <button type="button" class="link search" onClick={() => setOpen(true)}>
        Go to…{' '}
        <span class="key" aria-hidden="true">
          /
        </span>
      </button>
      {isOpen ? (
        <Dialog title="Go to" onClose={() => setOpen(false)}>
          <form
            onSubmit={(event) => {
              event.preventDefault()
              if (entries[0] !== undefined) open(entries[0])
            }}
          >
            <input
              type="text"
              autofocus
              aria-label="Page, agent or run id"
              placeholder="Page, agent or run id"
              value={text}
              onInput={({ currentTarget }) => setText(currentTarget.value)}
            />
          </form>
          <ul class="plain palette">
            {entries.slice(0, 12).map((entry) => (
              <li key={entry.href + entry.label}>
                <a href={entry.href} onClick={() => setOpen(false)}>
                  {entry.label}
                </a>
              </li>
            ))}
          </ul>
        </Dialog>
      ) : null}
    </>
  )
}

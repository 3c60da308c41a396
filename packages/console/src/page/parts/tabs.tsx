import { useApp } from '../app-context.ts'
import { hrefOf } from '../route.ts'

/** Links to the parts of a page; the address names the open part. */
export function Tabs({
  tabs,
  open,
}: {
  readonly tabs: ReadonlyArray<readonly [id: string, label: string]>
  readonly open: string
}) {
  const { route } = useApp()
  return (
    <nav class="tabs" aria-label="Parts of this page">
      {tabs.map(([id, label]) => (
        <a
          key={id}
          href={hrefOf(route.path, { ...route.query, tab: id })}
          aria-current={id === open ? 'page' : undefined}
        >
          {label}
        </a>
      ))}
    </nav>
  )
}

/** The script of the docs page: search and "Try it". `pnpm derive` bundles it. */
import { enableSearch } from './search.ts'
import { enableTryIt } from './try-it.ts'

const controls = document.querySelector<HTMLElement>('#controls')
if (controls !== null) controls.hidden = false

enableSearch()
enableTryIt()

/** Expands the operation that the URL fragment names. */
const openTarget = () => {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)))
  if (!(target instanceof HTMLDetailsElement)) return
  target.open = true
  target.scrollIntoView()
}
addEventListener('hashchange', openTarget)
openTarget()

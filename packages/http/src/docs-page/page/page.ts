/** What the page can do beyond being read; `pnpm derive` bundles it into the page. */
import { startSearch } from './search.ts'
import { startTrying } from './try-it.ts'

const controls = document.querySelector<HTMLElement>('#controls')
if (controls !== null) controls.hidden = false

startSearch()
startTrying()

/** A link to an operation shows it opened. */
const openTarget = () => {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)))
  if (!(target instanceof HTMLDetailsElement)) return
  target.open = true
  target.scrollIntoView()
}
addEventListener('hashchange', openTarget)
openTarget()

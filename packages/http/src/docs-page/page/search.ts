/** Filters operations and errors by the words in the search field. `/` focuses the field, Escape clears it. */
export function enableSearch(): void {
  const field = document.querySelector<HTMLInputElement>('#search')
  const count = document.querySelector<HTMLOutputElement>('#count')
  if (field === null || count === null) return
  const operations = [...document.querySelectorAll<HTMLElement>('details.operation')]
  const errors = [...document.querySelectorAll<HTMLElement>('#errors tbody tr')]
  const groups = [...document.querySelectorAll<HTMLElement>('section.group')]
  const texts = new Map([...operations, ...errors].map((element) => [element, searchTextOf(element)]))

  const show = () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean)
    for (const [element, text] of texts) element.hidden = !words.every((word) => text.includes(word))
    for (const group of groups) group.hidden = group.querySelector('details.operation:not([hidden])') === null
    const shown = operations.filter(({ hidden }) => !hidden).length
    count.value = words.length === 0 ? '' : `${shown} of ${operations.length} operations`
  }

  field.addEventListener('input', show)
  addEventListener('keydown', (event) => {
    if (event.key === '/' && !isTyping(event)) {
      event.preventDefault()
      field.focus()
    }
    if (event.key === 'Escape' && event.target === field) {
      field.value = ''
      show()
    }
  })
}

/** Searchable text, without examples and schemas. */
const searchTextOf = (element: HTMLElement): string =>
  [element.id, ...[...element.querySelectorAll('summary, p, a, th, td')].map(({ textContent }) => textContent)]
    .join(' ')
    .toLowerCase()

const isTyping = ({ target, ctrlKey, metaKey, altKey }: KeyboardEvent): boolean =>
  ctrlKey || metaKey || altKey || (target instanceof HTMLElement && target.matches('input, textarea, select'))

import { createClient, isEvent } from 'perdure/client'

async function ask(path: string, body?: string) {
  const response = await fetch(path, { method: 'POST', ...(body === undefined ? {} : { body }) })
  if (!response.ok) throw new Error(`${path} answered ${response.status}`)
  return response.json()
}

const client = createClient({
  baseUrl: document.documentElement.dataset.api ?? '',
  tickets: async () => (await ask('/ticket')).ticket,
})

const form = document.querySelector('form') as HTMLFormElement
const answer = document.querySelector('output') as HTMLOutputElement
const state = document.querySelector('#state') as HTMLElement

form.addEventListener('submit', async (event) => {
  event.preventDefault()
  answer.textContent = ''
  const { subject } = await ask('/ask', String(new FormData(form).get('text')))
  for await (const item of client.subscribe(subject)) {
    if (item.type === 'gap') continue
    state.textContent = item.event.type
    if (isEvent(item.event, 'text.delta')) answer.textContent += item.event.payload.delta
  }
})

import { createClient } from '@perdure/client'

const ask = async (path, body) => {
  const response = await fetch(path, { method: 'POST', body })
  if (!response.ok) throw new Error(`${path} answered ${response.status}`)
  return response.json()
}

const client = createClient({
  baseUrl: document.documentElement.dataset.api,
  tickets: async () => (await ask('/ticket')).ticket,
})

const [form, answer, state] = ['form', 'output', '#state'].map((selector) => document.querySelector(selector))

form.addEventListener('submit', async (event) => {
  event.preventDefault()
  answer.textContent = ''
  const { subject } = await ask('/ask', new FormData(form).get('text'))
  for await (const item of client.subscribe(subject)) {
    if (item.type === 'gap') continue
    const { type, payload } = item.event
    state.textContent = type
    if (type === 'text.delta') answer.textContent += payload.delta
  }
})

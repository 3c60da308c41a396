import type { Interrupt, Message, ResumeEntry, ToolCall } from '@ag-ui/client'
import { PerdureHttpAgent } from '@perdure/client/ag-ui'

localStorage.thread ??= `thread-${Date.now()}`
const agent = new PerdureHttpAgent({ url: '/v1/agents/clerk/ag-ui', threadId: localStorage.thread })

const tools = [
  {
    name: 'pickColor',
    description: 'Lets the user pick a color.',
    parameters: { type: 'object', properties: { of: { type: 'array', items: { type: 'string' } } } },
  },
]

const list = document.querySelector('#messages') as HTMLElement
const form = document.querySelector('form') as HTMLFormElement
const send = form.querySelector('button') as HTMLButtonElement
const status = document.querySelector('[role=status]') as HTMLElement

function element(name: string, text: string, className = ''): HTMLElement {
  return Object.assign(document.createElement(name), { textContent: text, className })
}
function button(text: string, onClick: () => void): HTMLElement {
  const made = element('button', text)
  made.addEventListener('click', onClick)
  return made
}

const toolCallsOf = (message: Message): ToolCall[] => ('toolCalls' in message && message.toolCalls) || []

/** What a message says: its text, its tool calls, or the result of one. */
function show(message: Message): HTMLElement {
  const article = element('article', '', message.role)
  const text = typeof message.content === 'string' ? message.content : ''
  article.append(element('b', message.role), ' ', text, ...toolCallsOf(message).flatMap(showCall))
  return article
}

/** Whether the call waits for the user of this page. */
const waits = (call: ToolCall) =>
  call.function.name === 'pickColor' &&
  !agent.isRunning &&
  !agent.messages.some((message) => message.role === 'tool' && message.toolCallId === call.id)

function showCall(call: ToolCall): HTMLElement[] {
  const { name, arguments: args } = call.function
  if (!waits(call)) return [element('code', `${name} ${args}`)]
  const pick = (content: string) => {
    agent.addMessage({ id: `${call.id}.result`, role: 'tool', toolCallId: call.id, content })
    run()
  }
  const { of: colors }: { of: string[] } = JSON.parse(args)
  return colors.map((color) => button(color, () => pick(color)))
}

/** Every open interrupt needs an answer; the last one sends them all. */
function ask(interrupts: readonly Interrupt[]): HTMLElement[] {
  const answers = new Map<string, ResumeEntry>()
  return interrupts.map(({ id, message = '' }) => {
    const decide = (approved: boolean) => {
      answers.set(id, { interruptId: id, status: 'resolved', payload: { approved } })
      if (answers.size === interrupts.length) run([...answers.values()])
    }
    const fieldset = element('fieldset', '')
    fieldset.append(
      element('legend', message),
      ...[true, false].map((is) => button(is ? 'Approve' : 'Deny', () => decide(is))),
    )
    return fieldset
  })
}

let problem: string | undefined

function render() {
  const asked = agent.isRunning ? [] : ask(agent.pendingInterrupts)
  const isAsking = asked.length > 0 || agent.messages.some((message) => toolCallsOf(message).some(waits))
  list.replaceChildren(...agent.messages.map(show), ...asked)
  status.textContent = problem ?? (agent.isRunning ? 'streaming' : 'ready')
  send.disabled = agent.isRunning || isAsking
}

/** Starts a run or continues one, and shows it while it comes. */
async function follow(start: () => Promise<unknown>) {
  problem = undefined
  const following = start()
  render()
  await following.catch((error: Error) => {
    problem = error.message
  })
  render()
}
const run = (resume?: ResumeEntry[]) =>
  follow(() => agent.runAgent({ tools, ...(resume === undefined ? {} : { resume }) }))

agent.subscribe({
  onRunStartedEvent({ event }) {
    if (event.metadata) localStorage.run = event.metadata.perdureRunId
  },
  onRunErrorEvent({ event }) {
    problem = event.message
  },
  onMessagesChanged: () => render(),
})

form.addEventListener('submit', (event) => {
  event.preventDefault()
  const text = String(new FormData(form).get('text'))
  agent.addMessage({ id: crypto.randomUUID(), role: 'user', content: text })
  run()
})

// After a reload: the messages of the thread, and the run that still answers.
if (localStorage.run === undefined) render()
else follow(() => agent.connectAgent({ runId: localStorage.run }))

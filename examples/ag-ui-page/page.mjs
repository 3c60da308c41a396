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

const [list, form, status] = ['#messages', 'form', '[role=status]'].map((selector) => document.querySelector(selector))

const element = (name, text, more = {}) => Object.assign(document.createElement(name), { textContent: text, ...more })
const button = (text, onclick) => element('button', text, { onclick })

/** What a message says: its text, its tool calls, or the result of one. */
function show({ role, content, toolCalls = [] }) {
  const article = element('article', '', { className: role })
  article.append(element('b', role), ' ', typeof content === 'string' ? content : '')
  for (const call of toolCalls) article.append(...calls(call))
  return article
}

/** Whether the call waits for the user of this page. */
const waits = (call) =>
  call.function.name === 'pickColor' &&
  !agent.isRunning &&
  !agent.messages.some(({ toolCallId }) => toolCallId === call.id)

function calls(call) {
  const { name, arguments: args } = call.function
  const { id: toolCallId } = call
  if (!waits(call)) return [element('code', `${name} ${args}`)]
  const pick = (content) => {
    agent.addMessage({ id: `${toolCallId}.result`, role: 'tool', toolCallId, content })
    run()
  }
  return JSON.parse(args).of.map((color) => button(color, () => pick(color)))
}

/** Every open interrupt needs an answer; the last one sends them all. */
function ask(interrupts) {
  const answers = new Map()
  return interrupts.map(({ id, message }) => {
    const decide = (approved) => {
      answers.set(id, { interruptId: id, status: 'resolved', payload: { approved } })
      if (answers.size === interrupts.length) run({ resume: [...answers.values()] })
    }
    const fieldset = element('fieldset', '')
    fieldset.append(
      element('legend', message),
      ...[true, false].map((is) => button(is ? 'Approve' : 'Deny', () => decide(is))),
    )
    return fieldset
  })
}

let problem

function render() {
  const asked = agent.isRunning ? [] : ask(agent.pendingInterrupts)
  const isAsking = asked.length > 0 || agent.messages.some(({ toolCalls = [] }) => toolCalls.some(waits))
  list.replaceChildren(...agent.messages.map(show), ...asked)
  status.textContent = problem ?? (agent.isRunning ? 'streaming' : 'ready')
  form.querySelector('button').disabled = agent.isRunning || isAsking
}

/** Starts a run or continues one, and shows it while it comes. */
async function follow(start) {
  problem = undefined
  const following = start()
  render()
  await following.catch((error) => {
    problem = error.message
  })
  render()
}
const run = (more = {}) => follow(() => agent.runAgent({ tools, ...more }))

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
  agent.addMessage({ id: crypto.randomUUID(), role: 'user', content: new FormData(form).get('text') })
  run()
})

// After a reload: the messages of the thread, and the run that still answers.
if (localStorage.run === undefined) render()
else follow(() => agent.connectAgent({ runId: localStorage.run }))

/** A wording that must not come back. */
export interface ProseRule {
  readonly pattern: RegExp
  /** Whether the rule applies only to sentences; headings may be phrases. */
  readonly isAboutSentences?: boolean
  /** What to write instead. */
  readonly instead: string
  readonly matches: string
  readonly allows: string
}

/** Begins a sentence: at the start of the text, or after the end of another one. */
const START = '(?:^|[.!?:] )'
/** The rest of a sentence that is not a question. */
const STATEMENT = '(?=[^.!?]*(?:[.!]|$))'

const sentence = (text: string) => new RegExp(`${START}${text}${STATEMENT}`)

// biome-ignore format: a table is read by its rows
export const PROSE_RULES: readonly ProseRule[] = [
  { pattern: /\bof before\b/, instead: 'earlier, previous', matches: 'Reads a run of before.', allows: 'Reads an earlier run.' },
  { pattern: /\banew\b/, instead: 'again; or name the new value', matches: 'Prints a token anew.', allows: 'Prints a new token.' },
  { pattern: /(?<!\b(?:there|kind) )\b(?:is|are|was|were) none(?= ?(?:[.,;:)]|$))/, instead: 'negate the verb: does not count, has no …', matches: 'A timer is none.', allows: 'Returns nothing when there is none.' },
  { pattern: /\b(?:is|are|was|were) no (?=(?:agent|request|reason|token|number|name|error|run|step|secret|subject|operation)\b)(?<!\b[Tt]here (?:is|are|was|were) no )/, instead: 'is not a …', matches: 'Rejects what is no agent.', allows: 'There is no agent with this id.' },
  { pattern: /\bhear(?:s|d)? of\b/, instead: 'is notified of, receives', matches: 'A parent hears of its child.', allows: 'A parent is notified of its child.' },
  { pattern: /\btold so\b/, instead: 'is reported as …, is refused with …', matches: 'The client is told so.', allows: 'The client is told the reason.' },
  { pattern: /\bof nobody\b/, instead: 'anonymous', matches: 'Refusals of nobody are counted.', allows: 'Nobody waits for the run.' },
  { pattern: /\b[Bb]y whose word\b/, instead: 'who approved it', matches: 'What was paid and by whose word.', allows: 'Shows the payment and its approver.' },
  { pattern: /\b(?:comes?|came) to nothing\b/, instead: 'fails, has no effect', matches: 'The request comes to nothing.', allows: 'The request fails.' },
  { pattern: /\b(?:go|goes|went|going) on with\b/, instead: 'continue, resume', matches: 'It goes on with the story.', allows: 'It goes on without a client.' },
  { pattern: sentence('Who(?:ever)? [a-z]+'), isAboutSentences: true, instead: 'name the actor: A client that …', matches: 'Who takes nothing is cut off.', allows: 'Who approved it? The operator.' },
  { pattern: sentence('(?:What|Whatever) (?:is|are|was|were|has|had|may|must|can|cannot|could|would|will|does|did|comes?|goes|makes?|takes?|needs?|happens?|stands?|begins?|fails?|remains?)\\b'), isAboutSentences: true, instead: 'name the thing: The result …, A request that …', matches: 'What fails is undone.', allows: 'What is a run?' },
  { pattern: sentence('Of (?:a|an|the|what|it|its|which|that|those|them)\\b(?![^,:]{0,60},)'), isAboutSentences: true, instead: 'begin with the noun or the verb', matches: 'Of the request that is being read the end waits.', allows: 'Of the remaining time, 45 ms are startup.' },
  { pattern: sentence('(?:Has|Have) (?:the|a|an) [a-z]+ [a-z]+'), isAboutSentences: true, instead: 'use one verb: wakes, stops, closes', matches: 'Has the daemon look at what is new.', allows: 'Has the run ended?' },
  { pattern: /\bso it is (?:with|without|for|in|when)\b/, instead: 'default with …', matches: 'Print once; so it is without a terminal.', allows: 'So it is not counted.' },
  { pattern: /\bthat (?:is|are) so\b(?! \w)/, instead: 'name the property', matches: 'Only runs that are so.', allows: 'Texts that are so long that they are cut.' },
  { pattern: /\b(?:no talk|is talk)\b/, instead: 'messages; print only errors', matches: 'No output but no talk on stderr.', allows: 'Prints messages to stderr.' },
  { pattern: /\bthis very\b/, instead: 'this', matches: 'Add this very reference.', allows: 'Add this reference.' },
  { pattern: /\b(?:stands?|stood) in\b(?! for| (?:its|their|the) way)/, instead: 'is in, is stored in', matches: 'The path stands in the file.', allows: 'A fixture stands in for the server.' },
  { pattern: /\b(?:as|how) (?:it|they|things|the run) stands?\b/, instead: 'the status; unchanged', matches: 'It says how it stands.', allows: 'It shows the status.' },
  { pattern: /\blook(?:ed|s|ing)? at twice\b/, instead: 'checked twice', matches: 'A key is looked at twice.', allows: 'A key is checked twice.' },
  { pattern: /\b[Tt]o wait is\b/, instead: 'waiting is, waiting counts as', matches: 'To wait is none of these.', allows: 'Waiting is not an outcome.' },
  { pattern: /\bspeaks? of\b/, instead: 'mention, name', matches: 'The guide does not speak of it.', allows: 'The guide does not mention it.' },
  { pattern: /\bwithout a word\b/, instead: 'silently', matches: 'It ends without a word.', allows: 'It ends silently.' },
  { pattern: /\bwith patience\b/, instead: 'describe the wait and its timeout', matches: 'A caller that waits with patience.', allows: 'A patient caller waits longer.' },
  { pattern: /\b(?:holds?|takes?|finds?|keeps?|frees?|gives? back) (?:a|no|its|the) place\b/, instead: 'concurrency slot; position, seq', matches: 'A suspended run holds no place.', allows: 'A suspended run holds no slot.' },
  { pattern: /\b(?:aftermath|deed-book|deeds?)\b/, instead: 'follow-up; request log; privileged action', matches: 'Records the deed.', allows: 'Records the action.' },
  { pattern: /\bover (?:a|the) (?:crash|restart|kill)\b/, instead: 'across a restart, after a crash', matches: 'Kept over a restart.', allows: 'Kept across a restart.' },
  { pattern: /\btakes (?:somebody|anybody|whoever) [a-z]* ?for\b/, instead: 'treats … as', matches: 'It takes whoever comes for an operator.', allows: 'It treats every caller as an operator.' },
]

const OLD_NAME = String.fromCharCode(98, 101, 114, 116, 104)

/** The former name of the product, in any case. */
export const FORMER_NAME: RegExp = new RegExp(OLD_NAME, 'i')

/** English and German words that do not indicate the topic of a text. */
export const STOP_WORDS: ReadonlySet<string> = new Set(
  `a about above after again against all also am an and any are aren't as at be because been before being below between
  both but by can can't cannot could couldn't did didn't do does doesn't doing don't done down during each either else
  ever every few for from further get gets got had hadn't has hasn't have haven't having he her here hers herself him
  himself his how however i i'm if in into is isn't it it's its itself just least less let like many may me might more
  most much must my myself neither never no nor not now of off often on once one only onto or other our ours ourselves
  out over own per rather same shall she should shouldn't since so some something still such than that that's the their
  theirs them themselves then there there's these they they're this those though through thus to too toward two under
  until up upon us use used uses using very via was wasn't we we're well were weren't what when where whether which while
  who whom whose why will with within without won't would wouldn't yet you you're your yours yourself yourselves
  aber alle als also am an auch auf aus bei bin bis bist da dann das dass dein dem den der des die dies diese diesem
  diesen dieser dieses doch dort du durch ein eine einem einen einer eines er es etwas euch für gegen hat hatte haben hier
  ich ihm ihn ihr ihre im ist ja jede jeder jedes kann kein keine mein mich mir mit muss nach nicht noch nun nur ob oder
  ohne schon sehr sein seine sich sie sind so über um und uns unter vom von vor war waren was weil wenn wer werden wie
  wir wird wo zu zum zur zwischen`.split(/\s+/),
)

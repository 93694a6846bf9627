"""What offices are asked for: the right way stands first, or what can be held stays in view."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from PySide6.QtWidgets import QWidget

from app import words
from app.frame.window import Window
from app.work.choosing import ANEW, WEAK, Offer, is_said, order_offers, search, title, told_aside
from engine.methods.catalogue import method, methods
from engine.methods.kinds import Held

OFFERS = tuple(Offer(one) for one in methods())
MODEL = "models.linear models.additive models.logistic models.tree models.naive_bayes"
STAYS = "statistics.means statistics.quantiles statistics.histogram statistics.life_table statistics.density"
COUNTED = "statistics.counts statistics.margins statistics.protected_table services.private_queries"
ROWS = (
    "datasets.k_anonymity datasets.pseudonyms datasets.masking datasets.microaggregation datasets.partition"
)
INVENTED, ASKED = "datasets.marginals", "exchanges.survey"
NAMED_BY_CODE = "datasets.pseudonyms datasets.masking"
HIDDEN = "statistics.protected_table"
MEAN, LIVED, HISTORIES = "statistics.means", "statistics.life_table", "datasets.traces"
WISHES = {
    "en": {
        "the council wants to know how many clients live in each district": COUNTED,
        "our supplier needs something to load into the new system before go-live": INVENTED,
        "a professor asked for the individual cases of the last five years": ROWS,
        "how much does a home visit cost on average": STAYS,
        "who is likely to miss an appointment": MODEL,
        "the same child must be recognisable over the years but not by name": NAMED_BY_CODE,
        "ask nurses whether they ever covered up a mistake": ASKED,
        "numbers for the yearbook but nobody with fewer than ten": HIDDEN,
        "the health inspectorate asks how often we used restraints": COUNTED,
        "we want to show the new case system to the works council without real clients": INVENTED,
        "a university hospital would like one line for every admission": ROWS,
        "what do people usually pay for a place in the nursery": STAYS,
        "tell us early which families may get into rent arrears": MODEL,
        "give the insurer the same code for the same member each quarter": NAMED_BY_CODE,
        "find out how many drivers drink before work without anyone having to admit it": ASKED,
        "a leaflet with cases per village where small villages must not show": HIDDEN,
        "the union asks for average overtime by team": STAYS,
        "how many complaints came in from each branch last quarter": COUNTED,
        "give a PhD candidate every referral as its own line": ROWS,
        "we are switching to a different scheduling tool and need records to play with": INVENTED,
        "which pupils are heading for a dropout": MODEL,
        "share case files with the court without revealing identities but keep them traceable": NAMED_BY_CODE,
        "do our managers take bribes": ASKED,
        "the paper wants prison incidents by site, rare ones must stay out": HIDDEN,
        "the ward managers want to see falls per month": COUNTED,
        "finance asks what an operation costs us on average": STAYS,
        "a research group wants the cases themselves": ROWS,
        "the app developers need data that look like ours": INVENTED,
        "who will probably stay longer than two weeks": MODEL,
        "the cancer registry must be able to match our patients next year": NAMED_BY_CODE,
        "are nurses honest about washing hands": ASKED,
        "publish deaths by village but hide ones and twos": HIDDEN,
        "the mayor wants visitors per library on a map": COUNTED,
        "how long does a parking permit take": STAYS,
        "an economist asks for each tax return with rounded incomes": ROWS,
        "a toy copy so that interns can learn the screens": INVENTED,
        "where will the next burglary be": MODEL,
        "the archive keeps everyone traceable by a secret number": NAMED_BY_CODE,
        "have our coaches ever hit a child": ASKED,
        "the council's website shows benefit cases, blocks with two or three must vanish": HIDDEN,
        "how long do people live after the operation, as a curve": LIVED,
        "how long before they relapse, under either drug": LIVED,
        "made-up patient histories for teaching": HISTORIES,
        "invented case histories with all visits in order for a seminar": HISTORIES,
    },
    "de": {
        "das Amt will wissen, wie viele Haushalte Wohngeld bekommen": COUNTED,
        "die IT braucht Spieldaten für die Umstellung": INVENTED,
        "eine Studentin bittet um Einzeldaten für ihre Masterarbeit": ROWS,
        "was kostet ein Pflegetag im Schnitt": STAYS,
        "wer bricht die Ausbildung wahrscheinlich ab": MODEL,
        "Akten ohne Namen, aber dieselbe Person soll erkennbar bleiben": NAMED_BY_CODE,
        "Lehrkräfte sollen anonym angeben, ob sie schon gemobbt wurden": ASKED,
        "Zahlen je Gemeinde für die Zeitung, ohne kleine Fallzahlen": HIDDEN,
        "die Aufsicht fragt, wie oft wir fixiert haben": COUNTED,
        "wir möchten das Programm vorführen, ohne echte Klienten zu zeigen": INVENTED,
        "das Institut hätte gern eine Zeile je Aufnahme": ROWS,
        "was zahlen Eltern normalerweise für einen Krippenplatz": STAYS,
        "früh erkennen, welche Mieter in Verzug geraten": MODEL,
        "die Kasse soll jedes Quartal denselben Code für dasselbe Mitglied bekommen": NAMED_BY_CODE,
        "herausfinden, wie viele Fahrer vor der Arbeit trinken, ohne dass es jemand zugeben muss": ASKED,
        "ein Faltblatt mit Fällen je Dorf, kleine Dörfer dürfen nicht auffallen": HIDDEN,
        "der Betriebsrat will den mittleren Lohn je Abteilung": STAYS,
        "wie viele Beschwerden kamen aus jeder Filiale": COUNTED,
        "ein Doktorand hätte gern jeden Notruf einzeln": ROWS,
        "für den Messestand brauchen wir etwas zum Herzeigen": INVENTED,
        "welche Kunden kündigen demnächst": MODEL,
        "das Gericht bekommt die Akten, Namen durch Nummern ersetzt": NAMED_BY_CODE,
        "nimmt unser Personal Drogen": ASKED,
        "Unfälle je Straße im Internet, einzelne Leute darf man nicht erkennen": HIDDEN,
        "die Stationsleitungen wollen die Stürze pro Monat sehen": COUNTED,
        "die Finanzabteilung fragt, was uns eine Operation durchschnittlich kostet": STAYS,
        "eine Forschungsgruppe will die Fälle selbst": ROWS,
        "die App-Entwickler brauchen Daten, die wie unsere aussehen": INVENTED,
        "wer bleibt wahrscheinlich länger als zwei Wochen": MODEL,
        "das Krebsregister muss unsere Patienten nächstes Jahr wiederfinden": NAMED_BY_CODE,
        "waschen Pflegekräfte wirklich die Hände, ehrlich gefragt": ASKED,
        "Todesfälle je Dorf veröffentlichen, aber Einser und Zweier verstecken": HIDDEN,
        "der Bürgermeister will die Besucher je Bücherei": COUNTED,
        "wie lange dauert eine Baugenehmigung": STAYS,
        "eine Ökonomin bittet um jeden Steuerbescheid mit gerundetem Einkommen": ROWS,
        "Praktikanten sollen an einer harmlosen Kopie lernen": INVENTED,
        "jeder behält eine geheime Nummer statt seines Namens": NAMED_BY_CODE,
        "haben Trainer schon einmal ein Kind geschlagen": ASKED,
        "Sozialhilfe je Häuserblock, Blöcke mit zwei oder drei Fällen müssen weg": HIDDEN,
        "wie lange leben Patienten nach der Diagnose": LIVED,
        "wie lange dauert es bis zum Rückfall, je nach Behandlung": LIVED,
        "ausgedachte Krankengeschichten mit allen Besuchen hintereinander für ein Seminar": HISTORIES,
        "erfundene Verläufe für den Unterricht": HISTORIES,
        "mittleres Alter und mittlerer Blutdruck unserer Patienten mit Diabetes": MEAN,
        "mittlere Liegedauer pro Abteilung": MEAN,
    },
    "fr": {
        "la mairie veut le nombre d’enfants par crèche": COUNTED,
        "le prestataire informatique veut un jeu d’essai": INVENTED,
        "un sociologue demande les fiches une par une": ROWS,
        "combien de temps attend-on en moyenne aux urgences": STAYS,
        "savoir d’avance qui ne viendra pas à son rendez-vous": MODEL,
        "suivre les mêmes élèves d’une année à l’autre sans leurs noms": NAMED_BY_CODE,
        "demander aux agents s’ils ont déjà menti dans un rapport": ASKED,
        "publier les chiffres sans montrer les groupes de moins de dix personnes": HIDDEN,
        "l'inspection demande combien de chutes graves nous avons eues": COUNTED,
        "montrer le logiciel à des visiteurs sans vrais dossiers": INVENTED,
        "l'institut aimerait une ligne par hospitalisation": ROWS,
        "combien paie-t-on d'habitude pour une place en crèche": STAYS,
        "repérer tôt les locataires qui risquent de ne plus payer": MODEL,
        "donner à la caisse le même code pour le même assuré chaque trimestre": NAMED_BY_CODE,
        "savoir combien de chauffeurs boivent avant le travail sans que personne doive l'avouer": ASKED,
        "une brochure avec les cas par village, les petits villages ne doivent pas se voir": HIDDEN,
        "le syndicat veut le salaire moyen par équipe": STAYS,
        "nombre de plaintes par agence au dernier trimestre": COUNTED,
        "un doctorant voudrait chaque appel séparément": ROWS,
        "il nous faut de quoi remplir l'application avant l'ouverture": INVENTED,
        "quels clients vont nous quitter": MODEL,
        "remettre les dossiers au tribunal avec des numéros à la place des noms": NAMED_BY_CODE,
        "est-ce que nos cadres touchent des pots-de-vin": ASKED,
        "accidents par rue sur internet, on ne doit reconnaître personne": HIDDEN,
        "les cadres veulent voir les chutes par mois": COUNTED,
        "les finances demandent ce qu'une opération nous coûte en moyenne": STAYS,
        "un groupe de recherche veut les cas eux-mêmes": ROWS,
        "les développeurs de l'application ont besoin de données semblables aux nôtres": INVENTED,
        "qui restera probablement plus de deux semaines": MODEL,
        "le registre du cancer doit retrouver nos patients l'an prochain": NAMED_BY_CODE,
        "les soignants se lavent-ils vraiment les mains, en toute franchise": ASKED,
        "publier les décès par village mais cacher les un et les deux": HIDDEN,
        "le maire veut les visiteurs par bibliothèque": COUNTED,
        "combien de temps prend un permis de construire": STAYS,
        "une économiste demande chaque déclaration avec des revenus arrondis": ROWS,
        "une copie sans danger pour que les stagiaires apprennent": INVENTED,
        "qui ne paiera pas sa facture": MODEL,
        "chacun garde un numéro secret à la place de son nom": NAMED_BY_CODE,
        "nos entraîneurs ont-ils déjà frappé un enfant": ASKED,
        "aides sociales par immeuble, ceux avec deux ou trois cas doivent disparaître": HIDDEN,
        "combien de temps vivent les malades après la greffe": LIVED,
        "combien de temps avant une rechute, selon le traitement reçu": LIVED,
        "des parcours de soins fictifs pour les cours": HISTORIES,
        "des histoires inventées avec toutes les visites à la suite": HISTORIES,
    },
}


@pytest.fixture(params=list(WISHES))
def spoken(request: Any) -> Iterator[str]:
    """Speak each language in turn."""
    words.choose_language(request.param)
    yield request.param
    words.choose_language("en")


def found(wanted: str) -> list[str]:
    """Return the ways that are found, the best first."""
    return [one.method.id for one in search(order_offers(OFFERS, {}), wanted)]


def test_what_an_office_is_asked_for_is_meant_first(spoken: str) -> None:
    first = {wish: (found(wish) or [""])[0] for wish in WISHES[spoken]}
    assert {wish: one for wish, one in first.items() if one not in WISHES[spoken][wish].split()} == {}
    assert [wish for wish in WISHES[spoken] if told_aside(wish)] == [], "nobody asks who can be recognised"


def test_no_phrase_means_all_that_makes_a_thing_and_one_way_alone(spoken: str) -> None:
    """It would put that way before the usual one, though it says nothing that parts them."""

    def phrases(text_id: str) -> set[str]:
        said = words.say(text_id) if words.has(text_id) else ""
        return {one for one in map(str.strip, said.split(",")) if one and one[-1] not in WEAK + ANEW}

    both = {
        one.id: phrases(f"app.wishes.things.{one.in_hands()}.aliases")
        & phrases(f"app.wishes.ways.{one.id}.aliases")
        for one in methods()
    }
    assert {name: found for name, found in both.items() if found} == {}


@pytest.mark.parametrize(
    ("language", "said", "same"),
    [
        ("fr", "l’âge habituel", "l'age habituel"),
        ("fr", "combien paie-t-on d’habitude", "combien paie on habitude"),
        ("fr", "pour s’exercer", "exercer"),
        ("de", "eine Forschungsgruppe", "Forschung"),
        ("de", "für die Übungen", "fur die Ubungen"),
        ("en", "WITHOUT their names", "without names"),
    ],
)
def test_endings_accents_and_what_is_elided_part_no_words(language: str, said: str, same: str) -> None:
    words.choose_language(language)
    try:
        assert found(said) and found(said)[0] == found(same)[0]
    finally:
        words.choose_language("en")


@pytest.mark.parametrize(
    ("spoken", "wish"),
    [
        ("en", "a student asks for raw data and nobody can be recognised"),
        ("de", "Rohdaten für eine Studentin, niemand erkennbar"),
        ("fr", "des données brutes pour un étudiant, personne reconnaissable"),
    ],
    indirect=["spoken"],
)
def test_that_nobody_is_recognised_says_of_no_way_that_it_is_meant(spoken: str, wish: str) -> None:
    """It is part of most wishes; what shall leave decides."""
    (first, *_) = found(wish)
    assert method(first).in_hands() is Held.COARSER


@pytest.mark.parametrize("one", methods(), ids=lambda one: one.id)
def test_a_title_typed_or_begun_comes_first(spoken: str, one: Any) -> None:
    name = title(one)
    assert found(name)[0] == found(name.upper())[0] == one.id
    begun = name.split()[:-1]
    if len(begun) > 2 and sum(title(other).startswith(" ".join(begun)) for other in methods()) == 1:
        assert found(" ".join(begun))[0] == one.id


@pytest.mark.parametrize(
    ("spoken", "wish"),
    [
        ("en", "how many {} have ever been on duty"),
        ("en", "how many {} did ever go abroad"),
        ("de", "wie viele {} haben jemals gefehlt"),
        ("de", "wie viele {} haben schon einmal gefehlt"),
        ("fr", "combien de {} ont déjà manqué"),
        ("fr", "combien de {} ont déjà voyagé"),
    ],
    indirect=["spoken"],
)
def test_what_somebody_ever_did_is_asked_anew_unless_the_table_has_a_column_of_it(
    spoken: str, wish: str
) -> None:
    """Both stand there; who holds what is asked decides which is first."""
    said = wish.format("zygoten")
    for columns, first in (((), "exchanges.survey"), (("zygoten_nr", "ward"), "statistics.counts")):
        ranked = [one.method.id for one in search(order_offers(OFFERS, {}), said, columns)]
        assert ranked[0] == first, (columns, ranked)
        assert {"exchanges.survey", "statistics.counts"} <= set(ranked[:3]), ranked


def test_only_the_last_word_is_still_being_typed() -> None:
    assert "datasets.texts" in found("heavy hit") and "datasets.texts" not in found("hit xyzzy child")


def test_words_that_stand_in_texts_alone_are_no_wish() -> None:
    assert found("xyzzy kangaroo spaceship") == []
    counts = next(one.method for one in OFFERS if one.method.id == "statistics.counts")
    assert is_said(counts, "how many kangaroos") and not is_said(counts, "kangaroos")


@pytest.mark.parametrize("wish", ["kangaroo spaceship on the roof", "a hash of the kangaroo spaceship"])
def test_a_wish_that_is_not_surely_met_leaves_the_eight_things_in_view(
    at: Any, window: Window, wish: str
) -> None:
    page = at("method", method="", parameters={}, budget=None)
    page.search.setText(wish)
    assert page.things.isVisible() and page.search.text() == wish
    asked = {words.say("app.method.nearest"), words.say("app.method.not_found")}
    assert page.title.text() in asked
    assert page.selected == page.next_words() == "", "Next takes no way that nobody asked for"
    window.resize(1366, 768)
    assert all(one.use.visibleRegion().boundingRect().height() for one in page.things.cards.values())
    assert not page.ways.isVisible(), "ways that single words have found are folded"
    assert page.findChild(QWidget, "several-found").isVisible(), "what several sites make has no card"
    page.search.setText("how many by gender and age")
    assert not page.things.isVisible() and page.ways.rows[0].way.id == "statistics.counts"
    page.search.setText("Sweeney")
    assert not page.things.isVisible()
    page.search.clear()
    assert page.things.isVisible() and not page.none.isVisible() and page.subtitle.isVisible()
    assert all(one.picture.isVisible() for one in page.things.cards.values()), "the cards are whole again"
    page.search.setText(wish)
    page.things.cards[Held.COUNTS].use.click()
    assert window.study.plan.method == "statistics.counts"
